/** What channels of a configuration ask for and no host or build can do, for the start of the service and doctor. Pure. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { channelTable } from "./Channels.ts"

const kinds = channelTable(() => 0)

export const channelProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const channels = new Map(
    [...snapshot.workspaces.values()]
      .flatMap(({ outputs }) => outputs.channels)
      .map((channel) => [channel.name, channel])
  )
  return [...channels.values()].flatMap((channel): ReadonlyArray<ConfigIssue> => {
    const path = `outputs.channels.${channel.name}`
    if (!Object.hasOwn(kinds, channel.kind)) {
      const message = `kind ${channel.kind} is not available in this build; nothing is sent to the channel`
      return [{ severity: "warning", path: `${path}.kind`, message }]
    }
    if (channel.kind !== "gitlab_mr_review" || channel.review_event !== "REQUEST_CHANGES") return []
    const message = "GitLab's API has no request for changes; its reviews are remarks. Leave review_event out"
    return [{ severity: "warning", path: `${path}.review_event`, message }]
  })
}
