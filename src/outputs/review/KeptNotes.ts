/**
 * Keeps what people write into the managed summary. Text below its marker is theirs and stays there; an edit of the text above is replaced
 * by the next review, which states it. The comment is read only if the host reported an edit by a person.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { Publication } from "../../domain/Publication.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { cut, shorten } from "../text/Cut.ts"
import type { Labels } from "../Labels.ts"
import { textBelowMarkers } from "../Marker.ts"
import { Records } from "../Records.ts"
import { gfm } from "../SafeText.ts"

/** People who are named; a host may report any number. */
const maxNamed = 10

/** Words and limit with which a summary is rendered. */
export interface SummaryWords {
  readonly labels: Labels
  readonly limit: number
}

/** Returns the body with the text that people wrote below the markers of the one that it replaces. */
export const withNotes = (written: string, body: string, { labels, limit }: SummaryWords): string => {
  const notes = shorten(written, Math.floor(limit / 2))
  return notes === "" ? body : `${cut(body, limit - notes.length - 2, labels.cut)}\n\n${notes}`
}

/** Returns the body to write over the summary that `previous` wrote. */
export const overEdited = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  hostId: string,
  previous: Publication,
  body: string,
  words: SummaryWords
): Effect.fn.Return<string, ForgeError> {
  const records = yield* Records
  const edited = (yield* records.touched(change)).filter(({ action }) => action === "edited")
  if (edited.length === 0) return body
  const { username } = yield* client.self
  const byPeople = edited.filter(({ by }) => by.toLowerCase() !== username.toLowerCase())
  const current = byPeople.length === 0 ? undefined : yield* client.commentText(change.repo, number, hostId)
  if (current === undefined) return body
  const notes = textBelowMarkers(current)
  if (notes) return withNotes(notes, body, words)
  const sentAt = (yield* records.sentAt(previous)) ?? 0
  const people = [...new Set(byPeople.filter(({ at }) => at > sentAt).map(({ by }) => gfm.codeSpan(by)))]
  if (people.length === 0) return body
  const named = people.length > maxNamed ? [...people.slice(0, maxNamed), "…"] : people
  const note = `> ${words.labels.editReplaced(named.join(", "))}\n\n`
  return `${note}${cut(body, words.limit - note.length, words.labels.cut)}`
})
