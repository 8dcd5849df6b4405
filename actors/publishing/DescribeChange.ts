/**
 * Executes `describe`: the newest walkthrough of the change goes between the markers of its description, or into a comment if the description
 * has none. The comment is written once, and updated by further commands. Repeating the command after a crash writes the same text.
 */
import { Effect } from "effect"
import { targetKey } from "../../src/domain/Change.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { fillDescription } from "../../src/outputs/DescriptionBlock.ts"
import { renderWalkthrough, walkthroughMarker } from "../../src/outputs/Walkthrough.ts"
import { withSettings } from "../../src/domain/RepositorySettings.ts"
import { Runs } from "../../src/store/Runs.ts"
import { executed, postOnce, unexecuted } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"

export const describeChange = Effect.fnUntraced(function* (subject: CommandedChange) {
  const { change, client, number, workspace } = subject
  const run = yield* (yield* Runs).latestAnalysis(targetKey(change))
  const { output_language: language } = withSettings(workspace, run?.analysis?.settings).review
  const text = run?.analysis && renderWalkthrough(run.analysis, run.head, language)
  if (text === undefined) {
    yield* postOnce(subject, labelsFor(language).notDescribed)
    return unexecuted({ _tag: "NotDescribed" })
  }
  // Read right before it is written, so that an edit of a person is not lost.
  const { description } = yield* client.pull(change.repo, number)
  const filled = fillDescription(description, text)
  if (filled === undefined) yield* writeComment(subject, text)
  else if (filled !== description) yield* client.describe(change.repo, number, filled)
  return executed({ _tag: filled === undefined ? "DescribedInComment" : "ChangeDescribed" })
})

const writeComment = Effect.fnUntraced(function* ({ change, client, number }: CommandedChange, text: string) {
  const { marker, search } = walkthroughMarker(targetKey(change))
  const body = `${text}\n\n${marker}`
  const existing = yield* client.findComment(change.repo, number, search)
  if (existing === undefined) yield* client.createComment(change.repo, number, body)
  else yield* client.updateComment(change.repo, number, existing.hostId, body)
})
