/** Renders the bodies that are sent: template, then markers, then truncation to the host's limit. Pure. */
import { Result } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { deliveredNotices } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import { chatTemplate, issueTemplate, problemTemplate, summaryTemplate } from "./BuiltIn.ts"
import type { PublishInput } from "../channels/Channel.ts"
import { cut } from "./Cut.ts"
import { labelsFor, reviewLabels } from "../Labels.ts"
import { lineUrl } from "./Links.ts"
import { renderMarker } from "../Marker.ts"
import type { Marker } from "../Marker.ts"
import { compile, renderBuiltIn } from "./Template.ts"
import { fillCode } from "./CodeSlot.ts"
import { gfm } from "../SafeText.ts"
import type { SafeText } from "../SafeText.ts"
import { tidy } from "./Tidy.ts"
import { frameView, problemView, summaryView } from "./View.ts"
import type { Shares, SuggestionStyle } from "./View.ts"
import type { Reason } from "../../domain/Reason.ts"
import { inLanguage } from "../../text/InLanguage.ts"

export interface Renderer {
  /** Maximum length of a body at the host. */
  readonly limit: number
  readonly suggestions: SuggestionStyle
  /** Built-in template of a summary where the host shows no HTML. */
  readonly summary?: string
  /** Built-in template of a problem there. */
  readonly problem?: string
}

/** Renders the template that the channel names, else the workspace's; if it fails, the built-in one with a notice. */
const renderTemplate = (
  input: PublishInput,
  channel: ChannelConfig,
  part: "problem" | "summary",
  view: object,
  builtIn: string
): { readonly text: string; readonly notice: Reason | undefined } => {
  const name = channel.templates[part]
  const ownTemplate = name === undefined ? undefined : input.workspace.outputs.templates[name]
  const source = ownTemplate ?? input.ownTemplates?.[part]
  if (source !== undefined) {
    const own = Result.flatMap(compile(source), (template) => template(view))
    if (Result.isSuccess(own)) return { text: own.success, notice: undefined }
    const template = ownTemplate === undefined ? `template ${channel.name}.${part}.md.hbs` : `template ${name}`
    return {
      text: renderBuiltIn(builtIn, view),
      notice: { _tag: "TemplateFailed", template, error: own.failure.message }
    }
  }
  return { text: renderBuiltIn(builtIn, view), notice: undefined }
}

/** Reserved length for a mention, because its slot is filled after the text has been truncated to the host's limit. */
const roomForMention = 250

const finish = (text: string, marker: Marker, input: PublishInput, limit: number): string =>
  cut(`${tidy(text)}\n\n${renderMarker(marker)}`, limit, labelsFor(input.workspace.review.output_language).cut)

export const renderProblem = (
  input: PublishInput,
  channel: ChannelConfig,
  finding: Finding,
  marker: Marker,
  renderer: Renderer
): string => {
  const language = input.workspace.review.output_language
  const style = { language, suggestions: renderer.suggestions, safe: gfm }
  const view = { ...frameView(input, { mention: false, safe: gfm }), problem: problemView(finding, style) }
  const { text } = renderTemplate(input, channel, "problem", view, renderer.problem ?? problemTemplate)
  return finish(fillCode(text, [finding], gfm), marker, input, renderer.limit)
}

export const renderSummary = (
  input: PublishInput,
  channel: ChannelConfig,
  shares: Shares,
  marker: Marker,
  renderer: Renderer
): string => {
  const mention = channel.mention_author === true
  const { target } = input.change
  const since = target.kind === "pull_request" && target.number !== undefined
  const view = (notices: ReadonlyArray<Reason>) => summaryView(input, shares, { mention, since, notices, safe: gfm })
  const builtIn = renderer.summary ?? summaryTemplate
  const rendered = renderTemplate(input, channel, "summary", view([]), builtIn)
  const text =
    rendered.notice === undefined
      ? rendered.text
      : renderTemplate(input, channel, "summary", view([rendered.notice]), builtIn).text
  return finish(
    fillCode(text, [...shares.visible, ...shares.late, ...shares.folded], gfm),
    marker,
    input,
    mention ? renderer.limit - roomForMention : renderer.limit
  )
}

/** Level of detail of problems in a chat message: counts only, titles, or everything. */
type ChatDetail = "brief" | "titles" | "full"

const maxTitle = 200

/** Replaces a missing title by the first line of the message, for texts that show titles only. */
const withTitle = (finding: Finding): Finding => {
  const { message, title = message.trim().split("\n", 1)[0]?.slice(0, maxTitle) } = finding.problem
  return title === undefined ? finding : { ...finding, problem: { ...finding.problem, title } }
}

/** Renders a review as a chat message, not truncated and without a marker: chat platforms have no hidden comments. */
export const renderChat = (
  input: PublishInput,
  channel: ChannelConfig,
  visible: ReadonlyArray<Finding>,
  hidden: number,
  { detail, safe }: { readonly detail: ChatDetail; readonly safe: SafeText }
): string => {
  const mention = channel.mention_author === true
  const named = detail === "titles" ? visible.map(withTitle) : visible
  const view = (notices: ReadonlyArray<Reason>) => {
    const summary = summaryView(
      input,
      { visible: named, inline: [], hidden, late: [], folded: [] },
      { mention, since: false, notices, safe }
    )
    const chat = {
      text: detail === "full" ? summary.summary.text : undefined,
      problems: detail === "brief" ? [] : summary.problems,
      full: detail === "full"
    }
    return { ...summary, chat }
  }
  const rendered = renderTemplate(input, channel, "summary", view([]), chatTemplate)
  const text =
    rendered.notice === undefined
      ? rendered.text
      : renderTemplate(input, channel, "summary", view([rendered.notice]), chatTemplate).text
  return tidy(fillCode(text, visible, safe))
}

/** Renders a problem without its surrounding code and without a marker. */
export const renderIssueText = (input: PublishInput, channel: ChannelConfig, finding: Finding): string => {
  const language = input.workspace.review.output_language
  const link = lineUrl(input.change, input.head, finding)
  const style = { language, suggestions: "plain", safe: gfm } as const
  const view = { ...frameView(input, { mention: false, safe: gfm }), problem: problemView(finding, style, link) }
  return tidy(fillCode(renderTemplate(input, channel, "problem", view, issueTemplate).text, [finding], gfm))
}

/** Renders the text above the comments of one review call. What a summary contains is not repeated. */
export const renderReviewBody = (
  input: PublishInput,
  { hasComments, hasSummary }: { readonly hasComments: boolean; readonly hasSummary: boolean },
  marker: Marker,
  renderer: Renderer
): string => {
  const labels = reviewLabels(input)
  const { analysis, workspace } = input
  const show = inLanguage(workspace.review.output_language)
  const clean = [...deliveredNotices(analysis).map(show), labels.clean].join(" ")
  const alone = hasSummary ? labels.requested : clean
  return finish(hasComments ? labels.atLines : alone, marker, input, renderer.limit)
}
