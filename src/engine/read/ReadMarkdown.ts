/** Reads the text of a summary from the input of `publish_summary`. */
import { Schema } from "effect"

const decode = Schema.decodeUnknownOption(
  Schema.Struct({ markdown: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(60_000)) })
)

export const readMarkdown = (input: unknown): string | undefined => {
  const read = decode(input)
  return read._tag === "None" || read.value.markdown.trim() === "" ? undefined : read.value.markdown.trim()
}
