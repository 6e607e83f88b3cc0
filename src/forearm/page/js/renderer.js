/**
 * A small WebGL 2 renderer of round things: capsules, balls and ellipsoids in one draw call, their shadow on the floor,
 * and thin lines. A solid is two half balls, one at each end, stretched by three axes.
 */
import { across, add, cross, lookAt, mix, norm, perspective, scale, subtract, times, unit } from "./linear.js";

/** @typedef {import("./linear.js").Vector} Vector */

const SOLID_VERTEX = `#version 300 es
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 from;
layout(location = 2) in vec3 to;
layout(location = 3) in vec3 u;
layout(location = 4) in vec3 v;
layout(location = 5) in vec3 w;
layout(location = 6) in vec4 color;
uniform mat4 camera;
uniform mat3 axes;
uniform float floorHeight, flatten;
out vec3 normal, place;
out vec4 shade;
void main() {
  vec3 p = (corner.z >= 0.0 ? to : from) + u * corner.x + v * corner.y + w * corner.z;
  normal = cross(v, w) * corner.x + cross(w, u) * corner.y + cross(u, v) * corner.z;
  if (flatten > 0.5) {
    float high = dot(p, axes[2]) - floorHeight;
    p += axes * vec3(vec2(-0.28, 0.18) * max(high, 0.0), -high);
  }
  place = p;
  shade = color;
  gl_Position = camera * vec4(p, 1.0);
}`;

const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 normal, place;
in vec4 shade;
uniform mat3 axes;
uniform vec3 eye;
uniform vec4 shadow;
uniform float flatten;
out vec4 color;
void main() {
  if (flatten > 0.5) { color = shadow; return; }
  vec3 n = normalize(normal), toEye = normalize(eye - place);
  if (dot(n, toEye) < 0.0) n = -n;
  vec3 sun = axes * normalize(vec3(0.5, -0.35, 0.85));
  float sky = 0.5 + 0.5 * dot(n, axes[2]), lit = max(dot(n, sun), 0.0);
  float gleam = pow(max(dot(n, normalize(sun + toEye)), 0.0), 48.0);
  float rim = pow(1.0 - max(dot(n, toEye), 0.0), 3.0);
  vec3 c = shade.rgb * (0.34 + 0.26 * sky + 0.52 * lit) + 0.16 * gleam + 0.10 * rim;
  color = vec4(c * shade.a, shade.a);
}`;

const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec3 p;
layout(location = 1) in vec4 tint;
uniform mat4 camera;
out vec4 shade;
void main() { shade = tint; gl_Position = camera * vec4(p, 1.0); }`;

const LINE_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 shade;
out vec4 color;
void main() { color = vec4(shade.rgb * shade.a, shade.a); }`;

/** Numbers of one solid: two ends, three axes, a colour with its opacity. */
const SOLID = [3, 3, 3, 3, 3, 4];

/** A list of solids that is drawn at once. */
export class Solids {
  constructor() {
    /** @type {number[]} */
    this.numbers = [];
  }

  get count() {
    return this.numbers.length / 19;
  }

  /**
   * @param {Vector} a
   * @param {Vector} b
   * @param {number} radius
   * @param {Vector} color
   */
  capsule(a, b, radius, color) {
    const way = subtract(b, a);
    const along = norm(way) > 1e-9 ? unit(way) : [0, 0, 1];
    const side = across(along);
    this.put(a, b, scale(side, radius), scale(cross(along, side), radius), scale(along, radius), color);
  }

  /**
   * @param {Vector} at
   * @param {number} radius
   * @param {Vector} color
   */
  ball(at, radius, color) {
    this.capsule(at, at, radius, color);
  }

  /**
   * @param {Vector} at
   * @param {Vector[]} axes
   * @param {Vector} color
   */
  ellipsoid(at, axes, color) {
    this.put(at, at, axes[0], axes[1], axes[2], color);
  }

  /** @param {Vector[]} parts */
  put(...parts) {
    for (const part of parts) for (let k = 0; k < part.length; k++) this.numbers.push(part[k]);
  }
}

/**
 * Corners and triangles of a ball, ring by ring from the top; its rim is there twice, so that the halves can be pulled
 * from each other with a pipe between them.
 * @param {number} rings of one half
 * @param {number} around
 */
function ball(rings, around) {
  const heights = Array.from({ length: rings + 1 }, (_, i) => (Math.PI / 2) * (1 - i / rings));
  const [corners, triangles] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  // the rims lie a hair above and below: the sign of z says to which end a corner belongs
  [...heights, ...heights.map((height) => -height).reverse()].forEach((height, i) => {
    const z = height ? Math.sin(height) : i <= rings ? 1e-6 : -1e-6;
    for (let k = 0; k <= around; k++) {
      const angle = (2 * Math.PI * k) / around;
      corners.push(Math.cos(height) * Math.cos(angle), Math.cos(height) * Math.sin(angle), z);
      const [a, b] = [i * (around + 1) + k, (i - 1) * (around + 1) + k];
      if (i && k < around) triangles.push(a, a + 1, b, a + 1, b + 1, b);
    }
  });
  return { corners: new Float32Array(corners), triangles: new Uint16Array(triangles) };
}

/**
 * @param {WebGL2RenderingContext} gl
 * @param {string} vertex
 * @param {string} fragment
 */
function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  const attach = (/** @type {number} */ kind, /** @type {string} */ text) => {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  };
  attach(gl.VERTEX_SHADER, vertex);
  attach(gl.FRAGMENT_SHADER, fragment);
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no shaders");
  const names = ["camera", "axes", "eye", "shadow", "floorHeight", "flatten"];
  return { made, at: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(made, name)])) };
}

/** The camera: it circles around a target. */
export class Camera {
  /**
   * @param {number} size how large the scene is [m]
   * @param {number[]} target its middle
   * @param {number[][]} axes two along the floor, and the one that points up
   */
  constructor(size, target, axes) {
    this.size = size;
    this.axes = axes;
    this.azimuth = -0.95;
    this.elevation = 0.38;
    this.distance = 2.5 * size;
    this.target = target;
    this.angle = 0.62;
  }

  get direction() {
    const { azimuth: a, elevation: e } = this;
    return mix(this.axes, [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)]);
  }

  get eye() {
    return add(this.target, scale(this.direction, this.distance));
  }

  get right() {
    return mix(this.axes, [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0]);
  }

  get up() {
    return cross(this.direction, this.right);
  }

  /** @param {number} aspect */
  matrix(aspect) {
    const wide = aspect < 1 ? this.angle / Math.sqrt(aspect) : this.angle;
    const lens = perspective(wide, aspect, 0.02 * this.size, 40 * this.size);
    return times(lens, lookAt(this.eye, this.target, this.axes[2]));
  }

  /**
   * @param {number} dx share of the view's height
   * @param {number} dy
   */
  orbit(dx, dy) {
    this.azimuth -= 3.2 * dx;
    this.elevation = Math.min(1.5, Math.max(-0.25, this.elevation + 2.4 * dy));
  }

  /**
   * @param {number} dx share of the view's height
   * @param {number} dy
   */
  pan(dx, dy) {
    const k = 2 * this.distance * Math.tan(this.angle / 2);
    this.target = add(this.target, add(scale(this.right, -dx * k), scale(this.up, dy * k)));
  }

  /** @param {number} factor */
  zoom(factor) {
    this.distance = Math.min(12 * this.size, Math.max(0.25 * this.size, this.distance * factor));
  }
}

/** Draws solids and lines on a canvas. */
export class Renderer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, stencil: true });
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.canvas = canvas;
    this.gl = gl;
    this.solids = program(gl, SOLID_VERTEX, SOLID_FRAGMENT);
    this.lines = program(gl, LINE_VERTEX, LINE_FRAGMENT);
    this.instances = gl.createBuffer();
    this.round = this.mesh(7, 16);
    this.thin = this.mesh(1, 6);
    this.plain = this.mesh(3, 10);
    this.lineArray = gl.createVertexArray();
    gl.bindVertexArray(this.lineArray);
    this.lineNumbers = this.attributes(gl.createBuffer(), 0, [3, 4], 0);
  }

  /**
   * Numbers of a buffer that belong to each corner, or to each solid.
   * @param {WebGLBuffer} buffer
   * @param {number} first of the shader's inputs
   * @param {number[]} widths
   * @param {number} divisor
   */
  attributes(buffer, first, widths, divisor) {
    const { gl } = this;
    const stride = 4 * widths.reduce((a, b) => a + b, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    widths.reduce((at, width, k) => {
      gl.enableVertexAttribArray(first + k);
      gl.vertexAttribPointer(first + k, width, gl.FLOAT, false, stride, at);
      gl.vertexAttribDivisor(first + k, divisor);
      return at + 4 * width;
    }, 0);
    return buffer;
  }

  /**
   * A ball to be drawn many times.
   * @param {number} rings
   * @param {number} around
   */
  mesh(rings, around) {
    const { gl } = this;
    const { corners, triangles } = ball(rings, around);
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.attributes(gl.createBuffer(), 0, [3], 0);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    this.attributes(this.instances, 1, SOLID, 1);
    return { array, size: triangles.length };
  }

  /**
   * Fit the drawing to the canvas on the screen; gives its aspect.
   * @param {number} ratio pixels drawn for each of the page's
   */
  fit(ratio) {
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    return width / height;
  }

  /**
   * @param {{matrix: Vector, eye: Vector, opaque: Solids, thin: Solids, glass: Solids, lines: Float32Array, floor: number,
   *          axes: number[][], shadow: Vector}} scene lines: x y z r g b a for each end of each line
   */
  draw(scene) {
    const { gl } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.drawLines(scene);
    this.setUp(scene);
    gl.enable(gl.STENCIL_TEST); // where shadows overlap they are no darker
    gl.stencilFunc(gl.EQUAL, 0, 0xff);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    this.drawSolids(scene.opaque, this.plain, true);
    gl.disable(gl.STENCIL_TEST);
    gl.depthMask(true);
    this.drawSolids(scene.opaque, this.round, false);
    this.drawSolids(scene.thin, this.thin, false);
    gl.depthMask(false);
    this.drawSolids(scene.glass, this.round, false);
    gl.depthMask(true);
  }

  /** @param {{matrix: Vector, lines: Float32Array}} scene */
  drawLines(scene) {
    const { gl } = this;
    gl.useProgram(this.lines.made);
    gl.uniformMatrix4fv(this.lines.at.camera, false, scene.matrix);
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineNumbers);
    gl.bufferData(gl.ARRAY_BUFFER, scene.lines, gl.DYNAMIC_DRAW);
    gl.drawArrays(gl.LINES, 0, scene.lines.length / 7);
  }

  /** @param {{matrix: Vector, eye: Vector, floor: number, axes: number[][], shadow: Vector}} scene */
  setUp(scene) {
    const { gl } = this;
    const { made, at } = this.solids;
    gl.useProgram(made);
    gl.uniformMatrix4fv(at.camera, false, scene.matrix);
    gl.uniformMatrix3fv(at.axes, false, scene.axes.flat());
    gl.uniform3fv(at.eye, scene.eye);
    gl.uniform4fv(at.shadow, scene.shadow);
    gl.uniform1f(at.floorHeight, scene.floor);
  }

  /**
   * @param {Solids} solids
   * @param {{array: WebGLVertexArrayObject, size: number}} mesh
   * @param {boolean} flat
   */
  drawSolids(solids, mesh, flat) {
    const { gl } = this;
    if (!solids.count) return;
    gl.bindVertexArray(mesh.array);
    gl.uniform1f(this.solids.at.flatten, flat ? 1 : 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(solids.numbers), gl.DYNAMIC_DRAW);
    gl.drawElementsInstanced(gl.TRIANGLES, mesh.size, gl.UNSIGNED_SHORT, 0, solids.count);
  }
}
