/**
 * The messages of a conversation with a model. Every conversation of a review begins in the same way: tools, system text, the part of the
 * change that all passes have in common. What was read with tools is removed once it is old, seldom and in large parts, because
 * each removal makes the provider read the rest of the conversation again.
 */
import type { Message } from "../../llm/Gateway.ts"
import type { Brief } from "../Agent.ts"

/** The first message of a conversation. */
export const firstMessage = ({ common }: Pick<Brief, "common">, text: string): Message =>
  common === undefined || common === "" ? { role: "user", text } : { role: "user", common, text }

/** Characters of results above which older ones are removed, and the length up to which a result stays. */
const maxResults = 24_000
const shortResult = 400

const sizeOf = (message: Message): number =>
  message.role === "tool"
    ? message.results.reduce((sum, { output }) => sum + (output.length > shortResult ? output.length : 0), 0)
    : 0

/** Replaces the long results of all but the newest message with tool results, if they are too long together. */
export const pruneResults = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const total = messages.reduce((sum, message) => sum + sizeOf(message), 0)
  if (total <= maxResults) return messages
  const newest = messages.findLastIndex(({ role }) => role === "tool")
  return messages.map((message, at) =>
    message.role !== "tool" || at === newest || sizeOf(message) === 0
      ? message
      : { ...message, results: message.results.map((result) => ({ ...result, output: shortened(result.output) })) }
  )
}

const shortened = (output: string): string =>
  output.length <= shortResult
    ? output
    : `${output.split("\n", 1)[0]?.slice(0, 200) ?? ""}\n(removed after it was read; read it again if it is needed)`
