/** Describes a change in the words of the model and in measured facts, for the description of the change or a comment of its own. Pure. */
import type { Analysis } from "../domain/Analysis.ts"
import type { TargetKey } from "../domain/Keys.ts"
import { labelsFor } from "./Labels.ts"
import { describeId } from "./channels/OperationId.ts"
import { renderMarker, toSearchText } from "./Marker.ts"
import { gfm } from "./SafeText.ts"
import { shorten } from "./text/Cut.ts"
import { renderFacts } from "./text/View.ts"

/** Longest text of the model. */
const maxText = 8000

/** Returns the text; undefined if no model described the change. `head`: the reviewed commit. */
export const renderWalkthrough = (analysis: Analysis, head: string, language: string): string | undefined => {
  if (analysis.conclusion !== undefined || analysis.summary.trim() === "") return undefined
  const { described } = labelsFor(language)
  const { facts, summaryHead = head } = analysis
  const commit = summaryHead.slice(0, 12).replaceAll(/[^\w.-]/g, "")
  return [
    `**${described(`\`${commit}\``)}**`,
    gfm.markdown(shorten(analysis.summary.trim(), maxText)),
    ...(facts === undefined ? [] : [renderFacts(facts, language, gfm)])
  ].join("\n\n")
}

/** Returns the marker of the comment that describes a change whose description has no place for it, and the text by which it is found. */
export const walkthroughMarker = (target: TargetKey) => {
  const op = describeId(target)
  return { marker: renderMarker({ op, scope: target }), search: toSearchText({ op }) }
}
