/** Bodies as they are sent: template, then markers, then cut to the host's limit. Pure. */
import { Result } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Finding } from "../domain/Problem.ts"
import { chatTemplate, issueTemplate, problemTemplate, summaryTemplate } from "./BuiltIn.ts"
import type { PublishInput } from "./Channel.ts"
import { cut } from "./Cut.ts"
import { labelsFor, reviewLabels } from "./Labels.ts"
import { lineUrl } from "./Links.ts"
import { renderMarker } from "./Marker.ts"
import type { Marker } from "./Marker.ts"
import { compile } from "./Template.ts"
import { fillCode } from "./CodeSlot.ts"
import { gfm } from "./SafeText.ts"
import type { SafeText } from "./SafeText.ts"
import { tidy } from "./Tidy.ts"
import { frameView, problemView, summaryView } from "./View.ts"
import type { Shares, SuggestionStyle } from "./View.ts"

export interface Renderer {
  /** Longest body of the host. */
  readonly limit: number
  readonly suggestions: SuggestionStyle
}

/** The template that the channel names, else the workspace's, where it works; else the built-in one and why. */
const textOf = (
  input: PublishInput,
  channel: ChannelConfig,
  part: "problem" | "summary",
  view: object,
  builtIn: string
): { readonly text: string; readonly notice: string | undefined } => {
  const name = channel.templates[part]
  const named = name === undefined ? undefined : input.workspace.outputs.templates[name]
  const source = named ?? input.ownTemplates?.[part]
  if (source !== undefined) {
    const own = Result.flatMap(compile(source), (template) => template(view))
    if (Result.isSuccess(own)) return { text: own.success, notice: undefined }
    const which = named === undefined ? `template ${channel.name}.${part}.md.hbs` : `template ${name}`
    return { text: builtInText(builtIn, view), notice: `${which}: ${own.failure}; the built-in one is used` }
  }
  return { text: builtInText(builtIn, view), notice: undefined }
}

const builtInText = (source: string, view: object): string =>
  Result.getOrThrow(Result.flatMap(compile(source), (template) => template(view)))

/** The slot is filled after the text was cut to the host's limit. */
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
  const { text } = textOf(input, channel, "problem", view, problemTemplate)
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
  const view = (notices: ReadonlyArray<string>) => summaryView(input, shares, { mention, since, notices, safe: gfm })
  const made = textOf(input, channel, "summary", view([]), summaryTemplate)
  const text =
    made.notice === undefined ? made.text : textOf(input, channel, "summary", view([made.notice]), summaryTemplate).text
  return finish(
    fillCode(text, shares.shown, gfm),
    marker,
    input,
    mention ? renderer.limit - roomForMention : renderer.limit
  )
}

/** How much of the problems a chat message shows: numbers only, titles, or everything. */
export type ChatDetail = "brief" | "titles" | "full"

/** A review as a chat message, whole and without a marker: chat platforms have no comments to hide one in. */
export const renderChat = (
  input: PublishInput,
  channel: ChannelConfig,
  shown: ReadonlyArray<Finding>,
  hidden: number,
  { detail, safe }: { readonly detail: ChatDetail; readonly safe: SafeText }
): string => {
  const mention = channel.mention_author === true
  const view = (notices: ReadonlyArray<string>) => {
    const summary = summaryView(input, { shown, inline: [], hidden }, { mention, since: false, notices, safe })
    const chat = {
      text: detail === "full" ? summary.summary.text : undefined,
      problems: detail === "brief" ? [] : summary.problems,
      full: detail === "full"
    }
    return { ...summary, chat }
  }
  const made = textOf(input, channel, "summary", view([]), chatTemplate)
  const text =
    made.notice === undefined ? made.text : textOf(input, channel, "summary", view([made.notice]), chatTemplate).text
  return tidy(fillCode(text, shown, safe))
}

/** A problem away from its code, without a marker. */
export const renderIssueText = (input: PublishInput, channel: ChannelConfig, finding: Finding): string => {
  const language = input.workspace.review.output_language
  const link = lineUrl(input.change, input.head, finding)
  const style = { language, suggestions: "plain", safe: gfm } as const
  const view = { ...frameView(input, { mention: false, safe: gfm }), problem: problemView(finding, style, link) }
  return tidy(fillCode(textOf(input, channel, "problem", view, issueTemplate).text, [finding], gfm))
}

/** The text above the comments of one review call. */
export const renderReviewBody = (input: PublishInput, problems: number, marker: Marker, renderer: Renderer): string => {
  const labels = reviewLabels(input)
  return finish(problems === 0 ? labels.clean : `${labels.found(problems)}.`, marker, input, renderer.limit)
}
