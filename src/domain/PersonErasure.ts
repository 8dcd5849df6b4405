/**
 * Erasing a person from records: which names are those of the person, and what replaces the names and texts. Names become one constant form,
 * which no account of a host can have. Pure.
 */
import { Predicate } from "effect"
import { administrator, chatRequester } from "./Change.ts"
import type { Entry } from "./Entry.ts"
import { readReason } from "./Reason.ts"
import { ChatPrincipal } from "./ChatRequest.ts"

/** Replaces a name. */
export const erasedName = "erased:person"
/** Replaces a text. */
const erasedText = "[erased]"

/** A person as records name them. */
export interface ErasedPerson {
  /** Name with its qualifier: `TRIGGER:LOGIN`, `slack_user:ID` and alike, or `administrator:NAME`. */
  readonly qualified: string
  readonly kind: "account" | "chat" | "administrator"
  /** Trigger profile of the host of an account. */
  readonly trigger: string | undefined
  readonly name: string
  /** Words before the name in records about changes, which name people of every kind. */
  readonly prefix: string
}

const administratorKind = "administrator"
const chatKinds: ReadonlyArray<string> = ChatPrincipal.fields.type.literals

/** Reads the qualified name of a person. Undefined: it has another form. Spaces, quotes and backslashes are in no name of an account. */
export const readPerson = (qualified: string): ErasedPerson | undefined => {
  const [, qualifier = "", name = ""] =
    /^([A-Za-z0-9][A-Za-z0-9_.-]{0,127}):([^\s"\\\p{Cc}]{1,255})$/u.exec(qualified) ?? []
  if (name === "" || qualified === erasedName) return undefined
  const other = { qualified, name, trigger: undefined }
  if (qualifier === administratorKind) return { ...other, kind: administratorKind, prefix: administrator("") }
  if (chatKinds.includes(qualifier)) return { ...other, kind: "chat", prefix: chatRequester(`${qualifier} `) }
  return { qualified, name, kind: "account", trigger: qualifier, prefix: "" }
}

/** Returns the person as records of chat and of the administration have the name. */
export const withoutPrefix = (person: ErasedPerson): ErasedPerson => ({ ...person, prefix: "" })

/**
 * Relation of a record to the person. `own`: the person wrote it. `involved`: it is about a change on which the person acted. `other`: only its
 * names can be those of the person.
 */
export type Relation = "own" | "involved" | "other"

/** Lower case of ASCII letters, which keeps the length. */
const fold = (text: string): string => text.replace(/[A-Z]+/g, (found) => found.toLowerCase())

/** Returns the name that replaces this one; undefined if it is that of another person. */
const replacement = ({ name, prefix }: ErasedPerson, text: string): string | undefined =>
  fold(text) === fold(prefix + name) ? `${prefix}${erasedName}` : undefined

export const isPerson = (person: ErasedPerson, name: unknown): boolean =>
  Predicate.isString(name) && replacement(person, name) !== undefined

export const eraseName = (person: ErasedPerson, name: string): string => replacement(person, name) ?? name

const inWord = /[\p{L}\p{N}_-]/u

/** Returns whether the name of an account could continue before or behind this part of a text, such as in `alice.smith`. */
const continues = (text: string, at: number, step: 1 | -1): boolean =>
  inWord.test(text[at] ?? "") || (text[at] === "." && inWord.test(text[at + step] ?? ""))

/** Replaces each occurrence of the name as a word of its own. `mentions`: only behind an at sign. */
const eraseWords = ({ name, prefix }: ErasedPerson, text: string, mentions: boolean): string => {
  const [folded, sought] = [fold(text), fold(prefix + name)]
  let [written, from] = ["", 0]
  for (let at = folded.indexOf(sought); at !== -1; at = folded.indexOf(sought, at + sought.length)) {
    const end = at + sought.length
    if (continues(text, at - 1, -1) || continues(text, end, 1) || (mentions && text[at - 1] !== "@")) continue
    written += text.slice(from, at) + prefix + erasedName
    from = end
  }
  return written + text.slice(from)
}

/** Erases a text of a person, and the name in another text: of a change without the person only where it is mentioned. */
export const eraseText = (person: ErasedPerson, text: string, relation: Relation): string => {
  if (relation === "own") return text === "" ? "" : erasedText
  return eraseWords(person, text, relation === "other")
}

/** Keys whose values are names of people. */
const nameKeys: ReadonlySet<string> = new Set([
  "username",
  "requestedBy",
  "person",
  "author",
  "sender",
  "pusher",
  "user",
  "by"
])

/** Keys whose values are texts. Others are ids, paths, code and values of lists, which records need. */
const textKeys: ReadonlySet<string> = new Set([
  "title",
  "description",
  "body",
  "text",
  "args",
  "detail",
  "message",
  "summary",
  "suggestion",
  "verified",
  "reason",
  "name",
  "place",
  "label",
  "question",
  "progressText",
  "clean",
  "headRef",
  "client"
])

/** Keys whose objects are reasons (domain/Reason.ts), of which each parameter is a text. */
const reasonKeys: ReadonlySet<string> = new Set([
  "reason",
  "reasons",
  "why",
  "description",
  "conclusion",
  "notices",
  "skipped"
])

/** Instructions for a part of a record. `own`: keys of the texts that are erased as a whole if the part is the person's. */
interface PartErasure {
  readonly own: ReadonlySet<string>
  readonly relation: Relation
}

/** Relation for texts that are not erased as a whole. */
const inWords = (relation: Relation): Relation => (relation === "own" ? "involved" : relation)

const eraseAt = (person: ErasedPerson, key: string, text: string, { own, relation }: PartErasure): string => {
  if (relation === "own" && own.has(key)) return eraseText(person, text, relation)
  if (nameKeys.has(key)) return eraseName(person, text)
  // Without a space it may be a value of a list, which happens to be the name of the person.
  return textKeys.has(key) && text.includes(" ") ? eraseText(person, text, inWords(relation)) : text
}

/** Erases the person from the parameters of a reason. */
const eraseParams = (person: ErasedPerson, value: unknown, relation: Relation, key = ""): unknown => {
  if (Predicate.isString(value))
    return key === "_tag" ? value : eraseText(person, eraseName(person, value), inWords(relation))
  if (Array.isArray(value)) return value.map((one: unknown) => eraseParams(person, one, relation))
  return Predicate.isObject(value) ? mapEntries(value, (name, one) => eraseParams(person, one, relation, name)) : value
}

const mapEntries = (
  value: object,
  change: (key: string, value: unknown) => unknown
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]))

/** Erases the person from a part of a record. */
const erasePart = (person: ErasedPerson, value: unknown, erasure: PartErasure, key = ""): unknown => {
  if (Predicate.isString(value)) return eraseAt(person, key, value, erasure)
  if (Array.isArray(value)) return value.map((one: unknown) => erasePart(person, one, erasure, key))
  if (!Predicate.isObject(value)) return value
  if (reasonKeys.has(key) && Predicate.hasProperty(value, "_tag")) return eraseParams(person, value, erasure.relation)
  const erased = mapEntries(value, (name, one) => erasePart(person, one, erasure, name))
  if (!("username" in value) || !isPerson(person, value.username)) return erased
  // The display name belongs to the account.
  const { name: _name, ...account } = erased
  return account
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Changes the value of a JSON text. Returns the text itself if the value does not change, or if it is no JSON. */
const inJson = (text: string, change: (value: unknown) => unknown): string => {
  const value = parse(text)
  const changed = JSON.stringify(change(value))
  return value === undefined || changed === JSON.stringify(value) ? text : changed
}

export const eraseJson = (person: ErasedPerson, text: string, erasure: PartErasure): string =>
  inJson(text, (value) => erasePart(person, value, erasure))

/** Erases the person from the JSON of a reason. */
export const eraseReason = (person: ErasedPerson, text: string, relation: Relation): string =>
  inJson(text, (value) => eraseParams(person, value, relation))

/** Keys of the texts of a change that its author wrote. `reason`: of an objection. */
const changeTexts: ReadonlySet<string> = new Set(["title", "description", "reason"])

/** Erases the person from a change (domain/Change.ts). A change without its head branch or repository is complete. */
export const eraseChange = <A>(person: ErasedPerson, change: A, relation: Relation): A => {
  const isOwn = isOwnChange(person, change)
  const erased = erasePart(person, change, { own: changeTexts, relation: isOwn ? "own" : inWords(relation) })
  if (!isOwn || !Predicate.isObject(erased)) return erased as A
  const { headRef: _ref, headRepo: _repo, client: _client, ...kept }: Readonly<Record<string, unknown>> = { ...erased }
  return kept as A
}

export const eraseChangeJson = (person: ErasedPerson, text: string, relation: Relation): string =>
  inJson(text, (value) => eraseChange(person, value, relation))

/** Returns an ended entry of the queue without the person; undefined if nothing of the person is in it. */
export const eraseEntry = (person: ErasedPerson, { change, id, reason }: Pick<Entry, "id" | "change" | "reason">) => {
  if (person.trigger !== undefined && ![change.host, change.trigger].includes(person.trigger)) return undefined
  const relation = isOwnChange(person, change) ? "own" : "other"
  const erased = { change: eraseChange(person, change, relation), reason: eraseParams(person, reason, relation) }
  return JSON.stringify(erased) === JSON.stringify({ change, reason })
    ? undefined
    : { id, change: erased.change, reason: readReason(erased.reason) }
}

/** Keys of the texts of a command. */
const commandTexts: ReadonlySet<string> = new Set(["text", "focus"])

/** Erases the person from accepted work: its change, and the words of a command that the person wrote. */
export const eraseWork = (person: ErasedPerson, text: string, relation: Relation, isSender: boolean): string =>
  inJson(text, (work) =>
    Predicate.isObject(work)
      ? mapEntries(work, (key, value) =>
          key === "change"
            ? eraseChange(person, value, relation)
            : erasePart(person, value, { own: commandTexts, relation: isSender ? "own" : inWords(relation) }, key)
        )
      : work
  )

/** Returns whether the person wrote a change: opened it, pushed it, or wrote the words that get a reply. */
export const isOwnChange = (person: ErasedPerson, change: unknown): boolean => {
  const { author, host, trigger }: Readonly<Record<string, unknown>> = Predicate.isObject(change) ? { ...change } : {}
  if (!Predicate.hasProperty(author, "username") || !isPerson(person, author.username)) return false
  return person.trigger === undefined || person.trigger === (host ?? trigger)
}

/** The same for a change as JSON. */
export const isOwnChangeJson = (person: ErasedPerson, text: string | null): boolean =>
  text !== null && isOwnChange(person, parse(text))
