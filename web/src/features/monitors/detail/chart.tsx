/** Load time over time. Loaded when first needed, for it brings its own library. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { millis } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/text";
import { useScheme } from "../../../shared/ui/scheme";
import type { Heartbeat } from "../data";
import styles from "./detail.module.css";
import { outages, seriesOf } from "./series";

const HEIGHT = 220;

export default function Chart({ beats, hours }: { beats: Heartbeat[]; hours: number }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { shown: scheme } = useScheme();
  const box = useRef<HTMLDivElement>(null);
  const times = beats.flatMap((beat) => (typeof beat.load_time === "number" ? [beat.load_time] : []));
  const most = Math.max(0, ...times);
  const label = t.detail.chartLabel(hours, times.length, millis(most));
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const plot = draw(element, beats, hours, locale);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [beats, hours, locale, scheme]);
  return <div ref={box} className={styles.plot} role="img" aria-label={label} />;
}

function draw(element: HTMLElement, beats: Heartbeat[], hours: number, language: string): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const down = outages(beats);
  const now = Date.now() / 1000;
  // A young monitor's chart begins with it.
  const from = Math.max(now - hours * 3600, Date.parse(beats[0]?.at ?? "") / 1000 || 0);
  const axis: uPlot.Axis = {
    stroke: colour("--ink-3"),
    font: `12px ${colour("--font-text")}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { points: { size: 7 }, y: false },
      scales: { x: { range: () => [from, now] }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] } },
      series: [
        {},
        {
          stroke: colour("--accent"),
          width: 1.5,
          fill: `${colour("--accent")}14`,
          points: { show: beats.length < 40, size: 5 },
          spanGaps: false,
        },
      ],
      axes: [
        { ...axis, size: 28, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => time.format(tick * 1000)) },
        { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : millis(tick))) },
      ],
      hooks: {
        drawClear: [
          (plot) => {
            plot.ctx.save();
            plot.ctx.fillStyle = colour("--down-soft");
            for (const [from, to] of down) {
              const left = plot.valToPos(from, "x", true);
              const right = Math.max(left + 2, plot.valToPos(to ?? now, "x", true));
              plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height);
            }
            plot.ctx.restore();
          },
        ],
        setCursor: [(plot) => tell(plot, element, beats, language)],
      },
    },
    seriesOf(beats),
    element,
  );
}

/** What the pointer is over, in a small box that follows it. */
function tell(plot: uPlot, element: HTMLElement, beats: Heartbeat[], language: string) {
  let tip = element.querySelector<HTMLElement>("[data-tip]");
  if (!tip) {
    tip = document.createElement("div");
    tip.dataset.tip = "";
    tip.className = styles.tip ?? "";
    plot.over.append(tip);
  }
  const { idx, left = -1 } = plot.cursor;
  const beat = idx === null || idx === undefined ? undefined : beats[idx];
  tip.hidden = !beat || left < 0;
  if (!beat) return;
  const time = new Intl.DateTimeFormat(language, { timeStyle: "medium" }).format(Date.parse(beat.at));
  tip.textContent = `${time} · ${typeof beat.load_time === "number" ? millis(beat.load_time) : beat.message}`;
  tip.style.left = `${left}px`;
  tip.dataset.side = left > plot.over.clientWidth * 0.7 ? "left" : "";
}
