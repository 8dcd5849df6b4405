/** A bot of WeCom in groups has its name in the configuration, or a warning. */
import { expect, it } from "vitest"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const warningsOf = (document: object) =>
  readDocument(document, {}).issues.flatMap(({ path, reason, severity }) =>
    severity === "warning" ? [`${path}: ${inEnglish(reason)}`] : []
  )

it("a bot of WeCom in a group needs its name", () => {
  const named = (connection: object, kind: string) =>
    warningsOf({
      im: {
        connections: { bot: { kind: "wecom_aibot", corp_id: "c", aibot_id: "b", secret: "s", ...connection } },
        command_bindings: {
          team: {
            enabled: true,
            connection: "bot",
            actors: [{ type: "wecom_userid", id: "ada" }],
            conversations: [{ kind, id: "g" }],
            commands: ["help"]
          }
        }
      }
    }).filter((warning) => warning.includes("bot_name"))
  expect(named({}, "group")).toEqual([expect.stringContaining("im.connections.bot.bot_name: not set")])
  expect(named({ bot_name: "AI Review Bot" }, "group")).toEqual([])
  expect(named({}, "bot_direct")).toEqual([])
})
