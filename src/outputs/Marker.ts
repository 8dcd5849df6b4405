/**
 * Hidden marker in everything that the service writes at a host: the operation that wrote it (`op`), the problem (`fp`) and the
 * scope (`scope`). In managed issues it also holds the problem's `file`, the key of its `code` (review/CodeKey.ts) and its `severity`.
 * `state`: the service resolved the problem, a person dismissed it by a command or from chat, an objection withdrew it, or a person reopened it
 * (`open`); `gone`: it is resolved, and others of its issue are not. The last one of a text counts. It identifies a write whose response is missing, and the managed summary. Values are escaped so that no value ends the HTML
 * comment; external text cannot contain a marker (SafeText.ts).
 */
import { Option, Schema } from "effect"
import { OperationId } from "../domain/Keys.ts"
import { Severity } from "../domain/Kinds.ts"
import { withoutMarkers } from "./text/InertText.ts"

export const Marker = Schema.Struct({
  op: OperationId,
  fp: Schema.optional(Schema.String),
  scope: Schema.optional(Schema.String),
  file: Schema.optional(Schema.String),
  code: Schema.optional(Schema.String),
  state: Schema.optional(Schema.Literals(["resolved", "dismissed", "withdrawn", "open", "gone"])),
  severity: Schema.optional(Severity)
})
export type Marker = typeof Marker.Type

/** Start of a marker; no other text of the service contains it. */
export const opening = "<!-- aicr:v1 "

const encoded = (value: string): string =>
  JSON.stringify(value).replace(
    /[<>\-\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const fields = ["op", "fp", "scope", "file", "code", "state", "severity"] as const

const pairs = (marker: Partial<Marker>): string =>
  fields
    .flatMap((name) => {
      const value = marker[name]
      return value === undefined ? [] : [`"${name}":${encoded(value)}`]
    })
    .join(",")

export const renderMarker = (marker: Marker): string => `${opening}{${pairs(marker)}} -->`

/** Returns the substring of every text that has a marker with these neighbouring fields, for searching without parsing. */
export const toSearchText = (part: Partial<Marker>): string => pairs(part)

const pattern = /<!-- aicr:v1 (\{[^\n<]*?\}) -->/g

/** Parses all markers of a text in order. Invalid markers are skipped. */
export const parseMarkers = (text: string): ReadonlyArray<Marker> =>
  [...text.matchAll(pattern)].flatMap(([, json]) => Option.toArray(decode(json ?? "")))

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Marker))

/** Replaces the markers for which `change` returns another one. */
export const replaceMarkers = (text: string, change: (marker: Marker) => Marker | undefined): string =>
  text.replace(pattern, (whole: string, json: string) =>
    Option.match(
      Option.flatMap(decode(json), (marker) => Option.fromUndefinedOr(change(marker))),
      {
        onNone: () => whole,
        onSome: renderMarker
      }
    )
  )

/** Replaces the operation in the markers of a text. */
export const renameOp = (
  text: string,
  from: { readonly operationId: OperationId },
  to: { readonly operationId: OperationId }
): string =>
  replaceMarkers(text, (marker) => (marker.op === from.operationId ? { ...marker, op: to.operationId } : undefined))

/** Returns each marker with the text before it. Text after the last marker is dropped. */
export const splitAtMarkers = (text: string): ReadonlyArray<{ readonly text: string; readonly marker: Marker }> => {
  let from = 0
  return [...text.matchAll(pattern)].flatMap((match) => {
    const before = text.slice(from, match.index).trim()
    from = match.index + match[0].length
    return Option.toArray(decode(match[1] ?? "")).map((marker) => ({ text: before, marker }))
  })
}

/** Returns the text without the states that the service wrote below it: each is a note, one paragraph, and its marker. */
export const withoutStates = (text: string): string => {
  let kept = ""
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(from, match.index)
    from = match.index + match[0].length
    const marker = Option.getOrUndefined(decode(match[1] ?? ""))
    const isState = marker?.state !== undefined && marker.fp === undefined
    kept += isState ? before.trimEnd().split("\n\n").slice(0, -1).join("\n\n") : `${before}${match[0]}`
  }
  return `${kept}${text.slice(from)}`
}

/** Returns the text after the last marker, without the space around it; undefined for a text without a marker. */
export const textBelowMarkers = (text: string): string | undefined => {
  const last = [...text.matchAll(pattern)].at(-1)
  return last && text.slice(last.index + last[0].length).trim()
}

/** Splits a text into its visible text and its markers. Removing a marker never creates a new one from its neighbours. */
export const splitMarkers = (text: string): { readonly visible: string; readonly markers: ReadonlyArray<string> } => ({
  visible: withoutMarkers(text.replace(pattern, "")).trimEnd(),
  markers: [...text.matchAll(pattern)].map(([whole]) => whole)
})
