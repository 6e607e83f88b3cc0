/**
 * A small WebGL 2 renderer of round things: capsules, balls and ellipsoids in one draw call, their shadow on the floor,
 * and thin lines. A solid is two half balls, one at each end, stretched by three axes.
 */
import { add, cross, lookAt, perspective, scale, times, unit } from "./linear.js";

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
uniform float floorHeight, flatten;
out vec3 normal, place;
out vec4 shade;
void main() {
  vec3 p = (corner.z >= 0.0 ? to : from) + u * corner.x + v * corner.y + w * corner.z;
  normal = cross(v, w) * corner.x + cross(w, u) * corner.y + cross(u, v) * corner.z;
  if (flatten > 0.5) {
    float above = max(p.z - floorHeight, 0.0);
    p = vec3(p.xy + above * vec2(-0.28, 0.18), floorHeight + 0.0015);
  }
  place = p;
  shade = color;
  gl_Position = camera * vec4(p, 1.0);
}`;

const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 normal, place;
in vec4 shade;
uniform vec3 eye;
uniform vec4 shadow;
uniform float flatten;
out vec4 color;
void main() {
  if (flatten > 0.5) { color = shadow; return; }
  vec3 n = normalize(normal), toEye = normalize(eye - place);
  if (dot(n, toEye) < 0.0) n = -n;
  vec3 sun = normalize(vec3(0.5, -0.35, 0.85));
  float sky = 0.5 + 0.5 * n.z, lit = max(dot(n, sun), 0.0);
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
const SOLID = 19;

/** A list of solids that is drawn at once. */
export class Solids {
  constructor() {
    /** @type {number[]} */
    this.numbers = [];
  }

  get count() {
    return this.numbers.length / SOLID;
  }

  /**
   * @param {Vector} a
   * @param {Vector} b
   * @param {number} radius
   * @param {Vector} color
   */
  capsule(a, b, radius, color) {
    const along =
      Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) > 1e-9
        ? unit([b[0] - a[0], b[1] - a[1], b[2] - a[2]])
        : [0, 0, 1];
    const side = unit(cross(along, Math.abs(along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    this.put(a, b, scale(side, radius), scale(cross(along, side), radius), scale(along, radius), color);
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
 * Corners and triangles of a ball, its two halves apart so that they can be pulled from each other.
 * @param {number} rings
 * @param {number} around
 */
function ball(rings, around) {
  const corners = [];
  const triangles = [];
  for (const sign of [1, -1]) {
    const first = corners.length / 3;
    for (let i = 0; i <= rings; i++) {
      const height = (Math.PI / 2) * (i / rings);
      for (let k = 0; k <= around; k++) {
        const angle = (2 * Math.PI * k) / around;
        // the rim of the lower half lies a hair below: the sign of z says to which end a corner belongs
        const z = i === 0 ? sign * 1e-6 : sign * Math.sin(height);
        corners.push(Math.cos(height) * Math.cos(angle), Math.cos(height) * Math.sin(angle), z);
      }
    }
    for (let i = 0; i < rings; i++) {
      for (let k = 0; k < around; k++) {
        const a = first + i * (around + 1) + k;
        triangles.push(a, a + 1, a + around + 1, a + 1, a + around + 2, a + around + 1);
      }
    }
  }
  const lower = corners.length / 6; // corners of one half
  for (let k = 0; k < around; k++) triangles.push(k, lower + k, k + 1, k + 1, lower + k, lower + k + 1); // the pipe between
  return { corners: new Float32Array(corners), triangles: new Uint16Array(triangles) };
}

/**
 * @param {WebGL2RenderingContext} gl
 * @param {string} vertex
 * @param {string} fragment
 */
function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no shaders");
  return made;
}

/** The camera: it circles around a target. */
export class Camera {
  /**
   * @param {number} size how large the scene is [m]
   * @param {number[]} target its middle
   */
  constructor(size, target) {
    this.size = size;
    this.azimuth = -0.95;
    this.elevation = 0.38;
    this.distance = 2.5 * size;
    this.target = target;
    this.angle = 0.62;
  }

  get direction() {
    const { azimuth: a, elevation: e } = this;
    return [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  }

  get eye() {
    return add(this.target, scale(this.direction, this.distance));
  }

  get right() {
    return [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0];
  }

  get up() {
    return cross(this.direction, this.right);
  }

  /** @param {number} aspect */
  matrix(aspect) {
    const wide = aspect < 1 ? this.angle / Math.sqrt(aspect) : this.angle;
    const lens = perspective(wide, aspect, 0.02 * this.size, 40 * this.size);
    return times(lens, lookAt(this.eye, this.target, [0, 0, 1]));
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
    this.places = new Map();
    this.instances = gl.createBuffer();
    this.round = this.mesh(7, 16);
    this.thin = this.mesh(1, 6);
    this.lineArray = gl.createVertexArray();
    gl.bindVertexArray(this.lineArray);
    this.lineNumbers = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineNumbers);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 28, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 28, 12);
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
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    for (let k = 1, at = 0; k <= 6; k++) {
      const width = k === 6 ? 4 : 3;
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, width, gl.FLOAT, false, 4 * SOLID, 4 * at);
      gl.vertexAttribDivisor(k, 1);
      at += width;
    }
    return { array, size: triangles.length };
  }

  /**
   * @param {WebGLProgram} of
   * @param {string} name
   */
  at(of, name) {
    const key = `${of === this.solids} ${name}`;
    if (!this.places.has(key)) this.places.set(key, this.gl.getUniformLocation(of, name));
    return this.places.get(key);
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
   * @param {{matrix: Vector, eye: Vector, opaque: Solids, thin: Solids, glass: Solids, lines: number[], floor: number,
   *          shadow: Vector}} scene lines: x y z r g b a for each end of each line
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
    this.drawSolids(scene.opaque, this.round, true);
    gl.disable(gl.STENCIL_TEST);
    gl.depthMask(true);
    this.drawSolids(scene.opaque, this.round, false);
    this.drawSolids(scene.thin, this.thin, false);
    gl.depthMask(false);
    this.drawSolids(scene.glass, this.round, false);
    gl.depthMask(true);
  }

  /** @param {{matrix: Vector, lines: number[]}} scene */
  drawLines(scene) {
    const { gl } = this;
    gl.useProgram(this.lines);
    gl.uniformMatrix4fv(this.at(this.lines, "camera"), false, scene.matrix);
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineNumbers);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(scene.lines), gl.DYNAMIC_DRAW);
    gl.drawArrays(gl.LINES, 0, scene.lines.length / 7);
  }

  /** @param {{matrix: Vector, eye: Vector, floor: number, shadow: Vector}} scene */
  setUp(scene) {
    const { gl } = this;
    gl.useProgram(this.solids);
    gl.uniformMatrix4fv(this.at(this.solids, "camera"), false, scene.matrix);
    gl.uniform3fv(this.at(this.solids, "eye"), scene.eye);
    gl.uniform4fv(this.at(this.solids, "shadow"), scene.shadow);
    gl.uniform1f(this.at(this.solids, "floorHeight"), scene.floor);
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
    gl.uniform1f(this.at(this.solids, "flatten"), flat ? 1 : 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(solids.numbers), gl.DYNAMIC_DRAW);
    gl.drawElementsInstanced(gl.TRIANGLES, mesh.size, gl.UNSIGNED_SHORT, 0, solids.count);
  }
}
