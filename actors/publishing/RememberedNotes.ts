/**
 * Executes `remember` and `forget`. A note for later reviews of the repository is a lesson (Lessons), which the model gets as data. `remember`
 * without a text lists the notes, each with the id by which `forget` removes it. With `review.reflection` off nothing is stored, and a comment
 * states that. Repeating a command after a crash changes nothing.
 */
import { createHash } from "node:crypto"
import { Clock, Effect } from "effect"
import { repositoryKey } from "../../src/domain/Change.ts"
import type { Lesson } from "../../src/domain/Lesson.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { gfm } from "../../src/outputs/SafeText.ts"
import { injectionIn } from "../../src/review/Injection.ts"
import { lessonBounds, reflectionMode } from "../../src/review/Reflection.ts"
import { scrubSecrets } from "../../src/review/Secrets.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { executed, postOnce, unexecuted } from "./CommandedChange.ts"
import type { CommandedChange } from "./CommandedChange.ts"

/** Lessons among which notes are searched, and the notes that a list shows. */
const maxRead = 10_000
const maxShown = 20

const maxNote = 300

/** Id of a note in comments: the first digits of its fingerprint. */
const idOf = ({ fingerprint }: Pick<Lesson, "fingerprint">): string => fingerprint.slice(0, 8)

const fingerprintOf = (text: string): string =>
  createHash("sha256").update(`note:${text.toLowerCase()}`).digest("hex").slice(0, 32)

const listNotes = Effect.fnUntraced(function* ({ change, workspace }: CommandedChange) {
  const since = (yield* Clock.currentTimeMillis) - lessonBounds(workspace.review.reflection).keepMillis
  const lessons = yield* (yield* Lessons).recall(repositoryKey(change), since, maxRead)
  return lessons.filter(({ verdict }) => verdict === "remembered")
})

export const rememberNote = Effect.fnUntraced(function* (subject: CommandedChange, given: string | undefined) {
  const { change, workspace } = subject
  const { reflection } = workspace.review
  const { notes } = labelsFor(workspace.review.output_language)
  if (reflectionMode(reflection) === "off") {
    yield* postOnce(subject, notes.off)
    return unexecuted({ _tag: "NotesOff" })
  }
  if (given === undefined) {
    const known = yield* listNotes(subject)
    const rows = known.slice(0, maxShown).map((note) => `- \`${idOf(note)}\`: ${gfm.plain(note.title)}`)
    yield* postOnce(subject, known.length === 0 ? notes.none : [notes.list(known.length), "", ...rows].join("\n"))
    return executed({ _tag: "NotesListed" })
  }
  const title = scrubSecrets(given).replaceAll(/\s+/g, " ").slice(0, maxNote).trim()
  // Reviews would leave it out.
  if (injectionIn(title)) {
    yield* postOnce(subject, notes.refused)
    return unexecuted({ _tag: "NoteRefused" })
  }
  const lesson = {
    fingerprint: fingerprintOf(title),
    verdict: "remembered",
    category: "note",
    severity: "info",
    path: "",
    title,
    quote: ""
  } as const
  const now = yield* Clock.currentTimeMillis
  yield* (yield* Lessons).learn(repositoryKey(change), [lesson], lessonBounds(reflection), now)
  yield* postOnce(subject, notes.remembered(`\`/aicr forget ${idOf(lesson)}\``, gfm.plain(title)))
  return executed({ _tag: "NoteRemembered", id: idOf(lesson) })
})

export const forgetNote = Effect.fnUntraced(function* (subject: CommandedChange, id: string) {
  const { notes } = labelsFor(subject.workspace.review.output_language)
  const known = (yield* listNotes(subject)).filter((note) => idOf(note) === id)
  for (const { fingerprint } of known) yield* (yield* Lessons).remove(repositoryKey(subject.change), fingerprint)
  if (known.length > 0) return executed({ _tag: "NoteForgotten", id })
  yield* postOnce(subject, notes.unknown(`\`${id}\``))
  return unexecuted({ _tag: "NoteUnknown", id })
})
