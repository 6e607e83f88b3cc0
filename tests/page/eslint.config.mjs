import { createRequire } from "node:module";

const js = createRequire(`${process.env.NODE_TOOLS}/package.json`)("@eslint/js");
const words = ["document", "window", "matchMedia", "requestAnimationFrame", "performance", "getComputedStyle", "WebAssembly", "ResizeObserver", "atob", "globalThis"];

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: Object.fromEntries(words.map((word) => [word, "readonly"])) },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error", "no-eval": "error", "no-implied-eval": "error", "no-console": "error" },
  },
];
