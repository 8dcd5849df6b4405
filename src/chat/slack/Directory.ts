/** Lists members of Slack: those of a channel and of a user group. */
import { Effect } from "effect"
import { unreadable } from "../members/DirectoryReader.ts"
import type { DirectoryReader } from "../members/DirectoryReader.ts"
import { listAt } from "../platform/ReadJson.ts"
import type { SlackApi } from "./Api.ts"

const toIds = (items: ReadonlyArray<unknown>): ReadonlySet<string> =>
  new Set(items.filter((item) => typeof item === "string"))

export const makeSlackDirectory = ({ read, readAll }: SlackApi): DirectoryReader => ({
  listChat: () => unreadable("members", { _tag: "NotOnPlatform", platform: "Slack" }),
  listScope: Effect.fnUntraced(function* (scope) {
    switch (scope.kind) {
      case "slack_channel":
        return toIds(yield* readAll("conversations.members", { channel: scope.id }, (page) => listAt(page, "members")))
      case "slack_usergroup":
        return toIds(listAt(yield* read("usergroups.users.list", { usergroup: scope.id }), "users"))
      default:
        return yield* unreadable(scope.kind, { _tag: "NotOnPlatform", platform: "Slack" })
    }
  })
})
