/** Terminal output of the demo: one line per step, the findings with their locations, and the URLs. */
import type { Finding } from "../src/domain/Problem.ts"
import type { Severity } from "../src/domain/Kinds.ts"
import type { ProgressEvent } from "../src/observability/Progress.ts"
import { inEnglish } from "../src/text/en.ts"

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

/** Shows a step of a review. Of a reply to a comment only what was written, or why nothing was. */
export const showProgress = (terminal: Terminal, event: ProgressEvent): void => {
  const isReply = event.targetKey.includes(":comment:")
  if (isReply && event._tag !== "Published" && (event._tag !== "Finished" || event.reason === undefined)) return
  switch (event._tag) {
    case "Started":
      return terminal.step("started", `run ${terminal.dim(event.runId)} on ${event.head.slice(0, 10)}`)
    case "CheckedOut":
      terminal.step("checked out", `the change starts from ${event.from.slice(0, 10)}`)
      return terminal.step("analysing", "the model reads the diff …")
    case "Working":
      return terminal.step(event.agent, `${event.toolCalls} tool calls, ${event.problems} problems so far`)
    case "Analysed": {
      const { problems, findings = [] } = event
      terminal.step("findings", `${problems} ${problems === 1 ? "problem" : "problems"}, by ${event.models.join(", ")}`)
      return findings.forEach((finding) => terminal.line(`    ${describeFinding(terminal, finding)}`))
    }
    case "Published":
      if (event.operation === "Status" || event.status === "nothing_to_do") return
      // Updates of comments of earlier reviews have no URL.
      if (event.status === "sent" && event.url === undefined) return
      return terminal.step(
        event.status === "sent" ? "published" : event.status,
        `${event.operation.toLowerCase()} ${terminal.dim(event.url ?? "")}`.trimEnd()
      )
    case "Finished":
      return terminal.step(
        event.status,
        event.reason === undefined ? "the review is on the pull request" : inEnglish(event.reason)
      )
  }
}

/** Shows what to try while the demo is up. */
export const showNextSteps = (
  terminal: Terminal,
  { clone, branch }: { readonly clone: string; readonly branch: string }
): void => {
  terminal.line(`\n  ${terminal.bold("Try next:")}`)
  terminal.step("1 push", `a fix, and read what it resolved: git clone -b ${branch} ${clone} parcels`)
  terminal.step("2 comment", "/aicr review or /aicr help, in the box on the page of the pull request")
  terminal.step("3 reply", "to a comment at a line: why, how to fix it, where else, or that it is wrong")
  terminal.step("4 dismiss", "a finding by Resolve conversation, then comment /aicr review: it is not raised again")
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
