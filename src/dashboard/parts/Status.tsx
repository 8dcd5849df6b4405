/** Shows a state by colour, shape and word, so that none of them is needed alone. */
import { tValue } from "../text/T.ts"

export type Tone = "good" | "bad" | "warn" | "busy" | "wait" | "quiet"

/** Tones of the states of runs, entries, batches, deliveries, publications and findings. */
const tones: Readonly<Record<string, Tone>> = {
  succeeded: "good",
  sent: "good",
  success: "good",
  done: "good",
  executed: "good",
  fixed: "good",
  set: "good",
  active: "good",
  committed: "good",
  connecting: "busy",
  failing: "bad",
  disabled: "warn",
  accepted: "wait",
  validating: "busy",
  failed: "bad",
  failure: "bad",
  dead: "bad",
  timeout: "bad",
  quarantined: "bad",
  rejected: "bad",
  missing: "bad",
  refused: "bad",
  unknown: "warn",
  expired: "warn",
  retry_wait: "warn",
  partial: "warn",
  ignored: "warn",
  paused: "warn",
  muted: "warn",
  running: "busy",
  preparing: "busy",
  analyzing: "busy",
  publishing: "busy",
  sending: "busy",
  queued: "wait",
  waiting: "wait",
  ready: "wait",
  deferred: "wait",
  pending: "wait",
  open: "wait",
  critical: "bad",
  high: "bad",
  medium: "warn",
  low: "wait",
  info: "quiet"
}

export const toneOf = (state: string): Tone => tones[state] ?? "quiet"

/** One outline per tone, so that states differ without colour. */
const shapes: Record<Tone, string> = {
  good: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM5 8.2l2.1 2.1L11.2 6",
  bad: "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2ZM5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8",
  warn: "M8 1.8 14.8 14H1.2ZM8 6.2v3.4M8 11.6v.6",
  busy: "M8 1.5a6.5 6.5 0 0 1 6.5 6.5M14.5 8A6.5 6.5 0 1 1 4.2 2.7M8 5.4v2.9l2 1.4",
  wait: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM8 4.6V8l2.4 1.5",
  quiet: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM5.2 8h5.6"
}

export const Shape = ({ tone }: { readonly tone: Tone }) => (
  <svg className="shape" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={shapes[tone]} />
  </svg>
)

interface StatusProps {
  /** Group of texts, such as `run` or `decision`. */
  readonly group: string
  readonly value: string
  readonly tone?: Tone
  readonly title?: string | undefined
}

export const Status = ({ group, title, tone, value }: StatusProps) => {
  const shown = tone ?? toneOf(value)
  return (
    <span className={`status tone-${shown}`} title={title}>
      <Shape tone={shown} />
      <span>{tValue(group, value)}</span>
    </span>
  )
}
