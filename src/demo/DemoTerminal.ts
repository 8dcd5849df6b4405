/** Terminal output of the demo: one line per step, the findings with their locations, and the URLs. */
import type { Finding } from "../domain/Problem.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { ProgressEvent } from "../observability/Progress.ts"

export interface Terminal {
  readonly line: (text: string) => void
  readonly step: (what: string, text: string) => void
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly severity: (severity: Severity) => string
}

const codes: Record<Severity, string> = { critical: "1;31", high: "31", medium: "33", low: "36", info: "2" }

export const makeTerminal = (stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Terminal => {
  const coloured = stream.isTTY && (env["NO_COLOR"] ?? "") === ""
  const paint = (code: string, text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const line = (text: string) => void stream.write(`${text}\n`)
  return {
    line,
    step: (what, text) => line(`  ${paint("32", what.padEnd(11))} ${text}`),
    bold: (text) => paint("1", text),
    dim: (text) => paint("2", text),
    severity: (severity) => paint(codes[severity], severity.padEnd(8))
  }
}

export const showProgress = (terminal: Terminal, event: ProgressEvent): void => {
  switch (event._tag) {
    case "Started":
      return terminal.step("started", `run ${terminal.dim(event.runId)} on ${event.head.slice(0, 10)}`)
    case "CheckedOut":
      terminal.step("checked out", `the change starts from ${event.from.slice(0, 10)}`)
      return terminal.step("analysing", "the model reads the diff …")
    case "Analysed": {
      const { problems, findings = [] } = event
      terminal.step("findings", `${problems} ${problems === 1 ? "problem" : "problems"}, by ${event.models.join(", ")}`)
      return findings.forEach((finding) => terminal.line(`    ${describeFinding(terminal, finding)}`))
    }
    case "Published":
      // Updates of comments of earlier reviews have no URL.
      if (event.operation === "Status" || (event.status === "sent" && event.url === undefined)) return
      return terminal.step(
        event.status === "sent" ? "published" : event.status,
        `${event.operation.toLowerCase()} ${terminal.dim(event.url ?? "")}`.trimEnd()
      )
    case "Finished":
      return terminal.step(event.status, event.reason ?? "the review is on the pull request")
  }
}

const describeFinding = (terminal: Terminal, { problem, anchor }: Finding): string => {
  const place =
    anchor === undefined ? `${problem.file} (in the summary)` : `${anchor.path}:${anchor.start ?? anchor.line}`
  const title = problem.title ?? problem.message.split("\n")[0] ?? ""
  // What a model wrote is shown as text: no control character of it reaches the terminal.
  return `${terminal.severity(problem.severity)} ${place}  ${title}`.replace(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g,
    ""
  )
}
