/**
 * The hidden marker in everything we write at a host: which operation wrote it (`op`), which problem it is about (`fp`) and where it
 * belongs (`scope`). In managed issues it also names the problem's `file`, and that we resolved it (`state`). It is how a write
 * whose answer was lost is found again, and how the managed summary is known. Values are escaped so that no value ends the
 * comment; text from elsewhere cannot hold a marker (SafeText.ts).
 */
import { Option, Schema } from "effect"
import { OperationId } from "../domain/Keys.ts"
import { withoutMarkers } from "./InertText.ts"

export const Marker = Schema.Struct({
  op: OperationId,
  fp: Schema.optional(Schema.String),
  scope: Schema.optional(Schema.String),
  file: Schema.optional(Schema.String),
  state: Schema.optional(Schema.Literal("resolved"))
})
export type Marker = typeof Marker.Type

/** What starts a marker, and nothing else in our texts. */
export const opening = "<!-- aicr:v1 "

const encoded = (value: string): string =>
  JSON.stringify(value).replace(
    /[<>\-\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const fields = ["op", "fp", "scope", "file", "state"] as const

const pairs = (marker: Partial<Marker>): string =>
  fields
    .flatMap((name) => {
      const value = marker[name]
      return value === undefined ? [] : [`"${name}":${encoded(value)}`]
    })
    .join(",")

export const renderMarker = (marker: Marker): string => `${opening}{${pairs(marker)}} -->`

/** What a text holds that has a marker with these neighbouring fields, for searching without parsing. */
export const needle = (part: Partial<Marker>): string => pairs(part)

const pattern = /<!-- aicr:v1 (\{[^\n<]*?\}) -->/g

/** All markers of a text, in order. Anything that only looks like one is passed over. */
export const parseMarkers = (text: string): ReadonlyArray<Marker> =>
  [...text.matchAll(pattern)].flatMap(([, json]) => Option.toArray(decode(json ?? "")))

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Marker))

/** The text before each marker, with the marker. What follows the last one belongs to none. */
export const marked = (text: string): ReadonlyArray<{ readonly text: string; readonly marker: Marker }> => {
  let from = 0
  return [...text.matchAll(pattern)].flatMap((found) => {
    const before = text.slice(from, found.index).trim()
    from = found.index + found[0].length
    return Option.toArray(decode(found[1] ?? "")).map((marker) => ({ text: before, marker }))
  })
}

/** A text without its markers, and the markers as they are. Halves that meet where a marker was make no new one. */
export const splitMarkers = (text: string): { readonly visible: string; readonly markers: ReadonlyArray<string> } => ({
  visible: withoutMarkers(text.replace(pattern, "")).trimEnd(),
  markers: [...text.matchAll(pattern)].map(([whole]) => whole)
})
