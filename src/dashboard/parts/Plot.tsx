/** The drawing of a chart: stacked bars. Loaded on demand. */
import { useEffect, useRef } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import type { ChartProps } from "./Chart.tsx"

/** Resolves a colour of the styles in the current theme: a canvas knows no `light-dark()`. */
const resolveColor = (element: HTMLElement, property: string): string => {
  const probe = document.createElement("span")
  probe.style.color = `var(${property})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Sums of each series and those before it, so that bars that are drawn over each other look stacked. */
const stack = (series: ChartProps["series"], count: number): ReadonlyArray<ReadonlyArray<number>> => {
  const totals = Array.from({ length: count }, () => 0)
  return series.map(({ values }) => {
    for (let index = 0; index < count; index++) totals[index] = (totals[index] ?? 0) + (values[index] ?? 0)
    return [...totals]
  })
}

const draw = (
  element: HTMLElement,
  { format, formatTime, height = 180, minimum = 1, onSelect, series, times }: ChartProps
): uPlot => {
  const axis = {
    stroke: resolveColor(element, "--quiet"),
    grid: { stroke: resolveColor(element, "--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui"
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 28, 1], radius: 0.15 })
  const stacked = stack(series, times.length)
  const options: uPlot.Options = {
    width: Math.max(element.clientWidth, 120),
    height,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor:
      onSelect === undefined
        ? { show: false }
        : { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    hooks: {
      setSelect: [
        ({ posToVal, select: { left, width } }) => {
          const at = (position: number) =>
            times[Math.min(Math.max(Math.round(posToVal(position, "x")), 0), times.length - 1)]
          const [first, last] = [at(left), at(left + width)]
          if (width > 0 && first !== undefined && last !== undefined) onSelect?.(first, last)
        }
      ]
    },
    scales: {
      x: { time: false, range: (_, min, max) => [min - 0.6, max + 0.6] },
      // Costs may be far below one.
      y: { range: (_, __, max) => [0, (max > 0 ? Math.max(max, minimum) : 1) * 1.1] }
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        values: (_, splits) =>
          splits.map((at) => (Number.isInteger(at) && times[at] !== undefined ? formatTime(times[at]) : ""))
      },
      {
        ...axis,
        size: 52,
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) || minimum === 0 ? format(value) : ""))
      }
    ],
    series: [
      {},
      // The sum of all is drawn first, the others over it.
      ...series
        .map(({ color, label }) => {
          const resolved = resolveColor(element, color)
          return {
            label,
            fill: resolved,
            stroke: resolved,
            width: 0,
            points: { show: false },
            ...(bars === undefined ? undefined : { paths: bars })
          }
        })
        .toReversed()
    ]
  }
  return new uPlot(
    options,
    [times.map((_, index) => index), ...stacked.toReversed().map((values) => [...values])],
    element
  )
}

const Plot = (props: ChartProps) => {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = container.current
    if (element === null) return undefined
    let plot = draw(element, props)
    const redraw = () => {
      plot.destroy()
      plot = draw(element, props)
    }
    let width = element.clientWidth
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width) return
      width = element.clientWidth
      redraw()
    })
    observer.observe(element)
    window.addEventListener("aicr-theme", redraw)
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    scheme.addEventListener("change", redraw)
    return () => {
      observer.disconnect()
      window.removeEventListener("aicr-theme", redraw)
      scheme.removeEventListener("change", redraw)
      plot.destroy()
    }
  })
  return <div ref={container} className="plot" style={{ minHeight: props.height ?? 180 }} />
}

// oxlint-disable-next-line import/no-default-export
export default Plot
