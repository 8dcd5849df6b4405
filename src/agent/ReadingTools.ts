/** The tools of a review that read the repository, for other conversations with a model. They have the limits of a review. */
import { Effect } from "effect"
import type { GatewayResponse, Message, ToolSpec } from "../llm/Gateway.ts"
import { pruneResults } from "./native/Conversation.ts"
import { handle } from "./native/Turn.ts"
import { readTools } from "./tools/ReadTools.ts"
import { Reports } from "./tools/Reports.ts"
import { repositoryReader } from "./tools/RepositoryReader.ts"
import type { RepositoryReader } from "./tools/RepositoryReader.ts"
import { listToolSpecs } from "./tools/Tools.ts"

export { repositoryReader }

export const readingTools: ReadonlyArray<ToolSpec> = listToolSpecs(Object.keys(readTools))

/** Returns whether a response calls tools that read, and nothing else. */
export const isReading = ({ calls }: Pick<GatewayResponse, "calls">): boolean =>
  calls.length > 0 && calls.every(({ name }) => Object.hasOwn(readTools, name))

/** Executes a response that reads; returns the messages with which the conversation continues. */
export const readOn = Effect.fnUntraced(function* (
  messages: ReadonlyArray<Message>,
  response: GatewayResponse,
  reader: RepositoryReader
) {
  const turn = yield* handle(response, { reports: new Reports(), reader, maySkip: false })
  return pruneResults([...messages, ...turn.messages])
})

/** The same where the repository cannot be read. */
export const readNothing = (
  messages: ReadonlyArray<Message>,
  { calls, native, text }: GatewayResponse
): ReadonlyArray<Message> => [
  ...messages,
  { role: "assistant", text, calls, native },
  {
    role: "tool",
    results: calls.map(({ id, name }) => ({ id, name, output: "not available: the code cannot be read" }))
  }
]
