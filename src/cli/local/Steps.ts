/** Displays progress on standard error: one line that is rewritten on a terminal, a line per step elsewhere. */
import { Clock, Effect, Schedule } from "effect"
import type { Scope } from "effect"
import type { ReviewStep } from "../../engine/ReviewChange.ts"
import { count } from "../Wording.ts"

export interface Steps {
  readonly show: (text: string) => Effect.Effect<void>
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

const write = (text: string): void => {
  process.stderr.write(text)
}

/** Creates the display. The line is cleared when the scope ends. */
export const makeSteps: Effect.Effect<Steps, never, Scope.Scope> = Effect.gen(function* () {
  if (!process.stderr.isTTY) return { show: (text) => Effect.sync(() => write(`${text}\n`)) }
  const started = yield* Clock.currentTimeMillis
  let current = ""
  let frame = 0
  const draw = Effect.gen(function* () {
    const seconds = Math.floor(((yield* Clock.currentTimeMillis) - started) / 1000)
    if (current !== "") write(`\r\u001b[K${frames[frame++ % frames.length]} ${current} (${seconds} s)`)
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => write("\r\u001b[K")))
  yield* Effect.forkScoped(Effect.repeat(draw, Schedule.spaced(100)))
  return {
    show: (text) =>
      Effect.suspend(() => {
        current = text
        return draw
      })
  }
})

export const describeStep = (step: ReviewStep): string => {
  switch (step._tag) {
    case "Planned": {
      const left = step.skipped === 0 ? "" : `, ${count(step.skipped, "file")} skipped`
      const passes = step.passes > 1 ? ` in ${step.passes} passes` : ""
      return `reading ${count(step.files, "file")}, ${count(step.lines, "changed line")}${passes}${left}`
    }
    case "Working": {
      const { mode, problems, toolCalls } = step.progress
      return `pass ${step.pass}: ${mode} made ${count(toolCalls, "tool call")}, ${count(problems, "problem")} so far`
    }
    case "Analysed":
      return `${count(step.problems, "problem")} reported, ${step.findings} kept, ${step.anchored} on their lines`
  }
}
