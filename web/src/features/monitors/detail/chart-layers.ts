/** What the chart shows around its lines: outages, the time before the first check, and the labels of the axes. */
import type uPlot from "uplot";
import type { Tick } from "./axis";
import styles from "./detail.module.css";
import type { Outage } from "./series";

type Box = readonly [left: number, width: number];

/** A span of time on the canvas, at least two pixels wide. */
function boxOf(plot: uPlot, { from, to }: Outage): Box {
  const { left, width } = plot.bbox;
  const begin = Math.max(left, plot.valToPos(from, "x", true));
  const end = Math.min(left + width, Math.max(begin + 2, plot.valToPos(to, "x", true)));
  return [Math.min(begin, end - 2), end - Math.min(begin, end - 2)];
}

/** Shades outages and maintenance behind the lines; a short one is still visible. */
export function shade(plot: uPlot, spans: readonly Outage[], color: string) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = color;
  ctx.globalAlpha = 0.22;
  for (const [left, width] of spans.map((span) => boxOf(plot, span))) ctx.fillRect(left, bbox.top, width, bbox.height);
  ctx.restore();
}

/** Nothing was measured during an outage, so lines and areas end where it begins, until `ctx.restore`. */
export function leaveOutOutages(plot: uPlot, down: readonly Outage[]) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, ctx.canvas.width, ctx.canvas.height);
  for (const [left, width] of down.map((outage) => boxOf(plot, outage))) ctx.rect(left, bbox.top, width, bbox.height);
  ctx.clip("evenodd");
}

/** The distance of the hatching's lines, in CSS pixels. */
const HATCH = 8;

/** Hatches a span, such as the time before the first check. */
export function hatch(plot: uPlot, span: Outage, color: string) {
  const { ctx, bbox } = plot;
  const [left, width] = boxOf(plot, span);
  const distance = HATCH * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let x = left - bbox.height; x < left + width; x += distance) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Places the labels of both axes; one that would leave the chart is omitted. */
export function placeLabels(plot: uPlot, times: readonly Tick[], values: readonly Tick[]) {
  plot.root.querySelectorAll("[data-axis]").forEach((label) => label.remove());
  const { left, top, height } = plotArea(plot);
  const placed = times.map(({ at, label }) => labelAt("x", label, left + plot.valToPos(at, "x"), top + height + 8));
  placed.push(...values.map(({ at, label }) => labelAt("y", label, left - 8, top + plot.valToPos(at, "y"))));
  plot.root.append(...placed);
  const frame = plot.root.getBoundingClientRect();
  for (const label of placed) {
    const box = label.getBoundingClientRect();
    if (box.left < frame.left || box.right > frame.right) label.remove();
  }
}

function plotArea(plot: uPlot) {
  const { left, top, height } = plot.bbox;
  return { left: left / devicePixelRatio, top: top / devicePixelRatio, height: height / devicePixelRatio };
}

function labelAt(axis: "x" | "y", text: string, left: number, top: number): HTMLElement {
  const label = document.createElement("span");
  label.className = styles.axisLabel ?? "";
  label.dataset.axis = axis;
  label.textContent = text;
  label.style.left = `${left}px`;
  label.style.top = `${top}px`;
  return label;
}
