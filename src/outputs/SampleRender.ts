/**
 * Renders templates with an example review, for `aicr template render` and to report invalid templates at the start of the
 * service instead of when a review is published. Pure.
 */
import { Result } from "effect"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Analysis } from "../domain/Analysis.ts"
import { TargetKey } from "../domain/Keys.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"
import { issueTemplate, problemTemplate, summaryTemplate } from "./text/BuiltIn.ts"
import type { PublishInput } from "./channels/Channel.ts"
import { fillCode } from "./text/CodeSlot.ts"
import { labelsFor } from "./Labels.ts"
import { gfm } from "./SafeText.ts"
import { compareReviews, listFindings, toListed, toSummaryProblems } from "./text/FindingList.ts"
import type { ListInput } from "./text/FindingList.ts"
import { renderList } from "./text/ListText.ts"
import { sinceText } from "./text/SinceLast.ts"
import { compile } from "./text/Template.ts"
import type { TemplateFailure } from "./text/Template.ts"
import { tidy } from "./text/Tidy.ts"
import { frameView, listSlot, problemView, sinceSlot, summaryView } from "./text/View.ts"

type TemplatePart = "problem" | "summary"

const finding = (line: number, severity: Severity, title: string, message: string, suggestion?: string): Finding => ({
  fingerprint: String(line).padStart(32, "0"),
  problem: {
    file: "src/parse.ts",
    line,
    severity,
    category: "bug",
    title,
    message,
    ...(suggestion === undefined ? {} : { suggestion })
  },
  anchor: { path: "src/parse.ts", side: "new", line }
})

const findings = [
  finding(
    12,
    "high",
    "Missing bounds check",
    "`items[index]` is read before `index` is checked.",
    "if (index < items.length) {"
  ),
  finding(40, "low", "Name could be more specific", "`data` holds parsed rows.")
]

const analysis: Analysis = {
  findings,
  summary: "Adds a parser for exports.",
  coverage: { reviewed: ["src/parse.ts"], skipped: [{ path: "package-lock.json", reason: "generated" }], lines: 48 },
  models: ["example/model"],
  usage: { requests: 2, inputTokens: 4000, outputTokens: 300, cachedTokens: 0 },
  notices: []
}

const sampleInput = (workspace: Workspace): PublishInput => ({
  runId: "example",
  targetKey: TargetKey.make("example:owner/name:pull_request:7"),
  change: {
    provider: "gitea",
    trigger: "example",
    workspace: workspace.id,
    repo: { fullName: "owner/name", webUrl: "https://git.example/owner/name" },
    target: { kind: "pull_request", number: 7 },
    title: "Parse exports",
    author: { username: "dana" }
  },
  head: "0123456789abcdef0123456789abcdef01234567",
  analysis,
  workspace,
  runUrl: undefined
})

const toView = (workspace: Workspace, part: TemplatePart, mention: boolean): object => {
  const input = sampleInput(workspace)
  if (part === "summary")
    return summaryView(
      input,
      { visible: findings, inline: findings.slice(0, 1), hidden: 0, late: [], folded: [] },
      { mention, since: true, notices: [], safe: gfm }
    )
  const [first] = findings
  const style = { language: workspace.review.output_language, suggestions: "lines", safe: gfm } as const
  return first === undefined
    ? {}
    : { ...frameView(input, { mention: false, safe: gfm }), problem: problemView(first, style) }
}

const builtIn = (part: TemplatePart, channel: ChannelConfig | undefined): string =>
  part === "summary"
    ? summaryTemplate
    : channel?.kind.endsWith("_problem_issue") === true
      ? issueTemplate
      : problemTemplate

/** Renders the text of a channel; fails with the error of its template. */
export const renderSample = (
  workspace: Workspace,
  channel: ChannelConfig | undefined,
  part: TemplatePart
): Result.Result<string, TemplateFailure> => {
  const name = channel?.templates[part]
  const source = name === undefined ? builtIn(part, channel) : workspace.outputs.templates[name]
  return source === undefined
    ? Result.fail({ message: `outputs.templates has no ${name}`, isOverBudget: false })
    : renderSource(workspace, channel, part, source)
}

/** Renders a template with the example. */
export const renderSource = (
  workspace: Workspace,
  channel: ChannelConfig | undefined,
  part: TemplatePart,
  source: string
): Result.Result<string, TemplateFailure> => {
  const view = toView(workspace, part, channel?.mention_author === true)
  const { output_language: language } = workspace.review
  return Result.map(
    Result.flatMap(compile(source), (template) => template(view)),
    (text) => {
      const input = sampleList(workspace)
      const list = renderList(listFindings(input), undefined, { language, hasHtml: true })
      const since = sinceText(compareReviews(input), labelsFor(language))
      return tidy(
        fillCode(text, findings, gfm)
          .replaceAll(sinceSlot, () => since)
          .replaceAll(listSlot, () => list)
      )
    }
  )
}

/** Returns the findings of the example: the first problem is new, and the second exists already. */
const sampleList = (workspace: Workspace): ListInput => {
  const review = toSummaryProblems(sampleInput(workspace), {
    findings,
    detailed: new Set(findings.slice(1)),
    folded: new Set(findings.slice(1))
  })
  const earlier = { before: [], review: { ...review, found: review.found.slice(1) }, threads: [] }
  return { before: toListed(listFindings(earlier)), review, threads: [] }
}

/** Time for the templates of a configuration together. Those that it does not suffice for are checked when they are used. */
const checkMillis = 2000

/** Returns whether there is time left for another template of a check. */
export const startCheck = (): (() => boolean) => {
  const deadline = performance.now() + checkMillis
  return () => performance.now() < deadline
}

export const uncheckedIssue = (path: string, templates: number): ConfigIssue => ({
  severity: "warning",
  path,
  reason: { _tag: "TemplatesUnchecked", count: templates, seconds: checkMillis / 1000 }
})

const parts = ["problem", "summary"] as const

/** Returns the problem of a template. One over its budget is an error: its rendering would cost every node time. */
export const describeFailure = (
  path: string,
  { isOverBudget, message }: TemplateFailure,
  part: TemplatePart,
  channel: string
): ConfigIssue => ({
  severity: isOverBudget ? "error" : "warning",
  path,
  reason: { _tag: "TemplateInvalid", part, channel, why: message }
})

interface CheckedTemplates {
  /** Problems by the name of the template. */
  readonly issues: ReadonlyMap<string, ConfigIssue>
  readonly unchecked: number
}

/** Lists the invalid templates of a configuration, each once. */
export const templateProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const { issues, unchecked } = checkTemplates(snapshot)
  return [...issues.values(), ...(unchecked === 0 ? [] : [uncheckedIssue("outputs.templates", unchecked)])]
}

/** Names of the templates that this build replaces by the built-in ones, because they are invalid. */
export const refusedTemplates = (snapshot: Snapshot): ReadonlyArray<string> => [
  ...checkTemplates(snapshot).issues.keys()
]

const checked = new WeakMap<Snapshot, CheckedTemplates>()

/** Renders each template of a configuration once. */
const checkTemplates = (snapshot: Snapshot): CheckedTemplates => {
  const known = checked.get(snapshot)
  if (known !== undefined) return known
  const found = renderTemplates(snapshot)
  checked.set(snapshot, found)
  return found
}

const renderTemplates = (snapshot: Snapshot): CheckedTemplates => {
  const issues = new Map<string, ConfigIssue>()
  const tried = new Set<string>()
  const hasTime = startCheck()
  let unchecked = 0
  for (const workspace of snapshot.workspaces.values()) {
    for (const channel of workspace.outputs.channels) {
      for (const part of parts) {
        const name = channel.templates[part]
        const source = name === undefined ? undefined : workspace.outputs.templates[name]
        const check = JSON.stringify([name, part, source])
        if (name === undefined || issues.has(name) || tried.has(check)) continue
        tried.add(check)
        if (!hasTime()) {
          unchecked++
          continue
        }
        const rendered = renderSample(workspace, channel, part)
        if (Result.isSuccess(rendered)) continue
        issues.set(name, describeFailure(`outputs.templates.${name}`, rendered.failure, part, channel.name))
      }
    }
  }
  return { issues, unchecked }
}
