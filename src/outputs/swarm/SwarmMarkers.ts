/**
 * Markers in comments of Swarm. It shows an HTML comment as text, so a marker is written as the definition of a link that nothing refers
 * to, which both of its renderers leave out: `[//]: # (aicr:v1 …)`, with the marker's fields in base64url. Pure.
 */
import { opening, renderMarker, splitAtMarkers } from "../Marker.ts"
import { zeroWidth } from "../text/InertText.ts"

const definition = /^\[\/\/\]: # \(aicr:v1 ([A-Za-z0-9_-]+)\)$/gm

/** Text of a change, which code blocks contain verbatim, cannot forge a definition. */
const withoutDefinitions = (text: string): string => text.replace(/aicr:v1(?= )/g, `aicr:${zeroWidth}v1`)

/** Writes the markers of a body as definitions. Text after the last marker is dropped. */
export const toSwarmBody = (body: string): string =>
  splitAtMarkers(body)
    .map(({ marker, text }) => {
      const fields = renderMarker(marker).slice(opening.length, -" -->".length)
      return `${withoutDefinitions(text)}\n\n[//]: # (aicr:v1 ${Buffer.from(fields, "utf8").toString("base64url")})`
    })
    .join("\n\n")
    .trim()

/** Returns the body with its definitions as markers. */
export const fromSwarmBody = (body: string): string =>
  body
    .replaceAll("\r\n", "\n")
    .replace(definition, (_, fields: string) => `${opening}${Buffer.from(fields, "base64url").toString("utf8")} -->`)
