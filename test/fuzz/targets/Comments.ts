/** Comments on pull requests: commands of people, and our own hidden markers, which any account can write, too. */
import { OperationId } from "../../../src/domain/Keys.ts"
import { CommandName, findAddressedCommand, findCommand, maxCommandText } from "../../../src/domain/CommentCommand.ts"
import { splitAtMarkers, parseMarkers, renderMarker, splitMarkers } from "../../../src/outputs/Marker.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

const command: FuzzTarget = {
  name: "command",
  seeds: () =>
    [
      "/aicr review full",
      "please /review, thanks",
      "> /aicr cancel\n```\n/review\n```\n/aicr help",
      "@aicr dismiss reason: intended, it is a test",
      "dismiss 误报",
      "/aicr reopen #3\n/aicr review full focus: locks"
    ].map(bytes),
  words: [
    "/aicr ",
    "@aicr ",
    "review",
    "help",
    "cancel",
    "dismiss",
    "full",
    "focus:",
    "reopen",
    "#3",
    "reason:",
    "误报",
    "```",
    "~~~",
    "> ",
    "`"
  ],
  check: (input) => {
    const body = text(input)
    for (const found of [findCommand(body), findAddressedCommand(body, "aicr[bot]", true)]) {
      if (found === undefined) continue
      ensure(CommandName.literals.includes(found.name), "a command has a name of the list")
      const free = found.name === "dismiss" ? found.text : found.name === "review" ? found.focus : undefined
      ensure((free ?? "").length <= maxCommandText, "the text of a command is bounded")
    }
  }
}

const marker: FuzzTarget = {
  name: "marker",
  seeds: () => [
    bytes(renderMarker({ op: OperationId.make("a:b"), fp: "f-->p", scope: "<s>" })),
    bytes(
      `text\n${renderMarker({ op: OperationId.make("1") })}\nmore\n${renderMarker({ op: OperationId.make("2"), file: "ä", state: "resolved" })}`
    )
  ],
  words: ["<!-- aicr:v1 ", "{", "}", " -->", '"op":', '"fp":', "\\u002d"],
  check: (input) => {
    const comment = text(input)
    for (const found of parseMarkers(comment)) {
      const again = parseMarkers(renderMarker(found))
      ensure(JSON.stringify(again) === JSON.stringify([found]), "a marker that was read is written the same")
    }
    splitAtMarkers(comment)
    ensure(parseMarkers(splitMarkers(comment).visible).length === 0, "a text without its markers has none")
  }
}

export const comments: ReadonlyArray<FuzzTarget> = [command, marker]
