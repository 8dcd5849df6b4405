/** The tool with which an agent searches the web. The service offers it in place of the search of a CLI, which its sandbox cannot reach. */
import { Effect, Schema } from "effect"
import { refusedText, text, tool } from "./Tool.ts"

export const searchToolName = "web_search"

export const searchTools = {
  [searchToolName]: tool({
    description:
      "Search the web, for example for the documentation of a library or a known defect. Returns titles, addresses and short texts, no pages. The query leaves this machine: never put code or data of the change into it.",
    input: Schema.Struct({ query: Schema.String }),
    properties: { query: text("A few words, at most 400 characters in one line.") },
    required: ["query"],
    run: ({ query }, { search }) =>
      search === undefined ? Effect.succeed(refusedText("the web search is off")) : search(query)
  })
}
