/** Checks the channel of findings that only maintainers get: a chat, e-mail, or the issues of a named repository, to which no route publishes reviews. */
import type { Reason } from "../../domain/Reason.ts"
import type { Report } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { formatPath } from "../document/Path.ts"
import type { Declared } from "./Names.ts"
import { checkReference } from "./Names.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { textAt } from "./Tree.ts"

const kinds = [
  "feishu_bot",
  "feishu_app",
  "wecom_bot",
  "wecom_app",
  "slack_webhook",
  "slack_app",
  "teams_webhook",
  "email",
  "gitea_problem_issue",
  "github_problem_issue",
  "gitlab_problem_issue"
]

/** Fields that name the repository of a channel, of which each kind has its own. */
const places = ["owner", "repo", "project_id"]

interface PrivateField {
  /** Path and value of `review.private.channel`. */
  readonly field: TreePosition<string>
  /** False if a layer below the field hides what it names. */
  readonly isOwnLayer: boolean
  /** Path of the outputs of the last layer. */
  readonly last: Path
  readonly channels: ReadonlyArray<TreePosition<Tree>>
  readonly declared: Declared
  /** Names in routes that apply here. */
  readonly routed: ReadonlyArray<TreePosition<string>>
}

const findProblem = ({ channels, field, routed }: PrivateField): Reason | undefined => {
  const name = field.value
  const channel = channels.find(({ value }) => textAt(value, "name") === name)
  if (channel === undefined) return undefined
  const kind = textAt(channel.value, "kind") ?? ""
  if (!kinds.includes(kind)) return { _tag: "PrivateChannelUnfit", channel: JSON.stringify(name), kind, kinds }
  if (kind.endsWith("_issue") && !places.some((place) => channel.value[place] !== undefined))
    return { _tag: "PrivateRepositoryMissing", channel: JSON.stringify(name), kind }
  const route = routed.find(({ value }) => value === name)
  return route && { _tag: "PrivateChannelRouted", channel: JSON.stringify(name), place: formatPath(route.path) }
}

export const checkPrivateChannel = (found: PrivateField, error: Report): void => {
  const { declared, field, isOwnLayer, last } = found
  const reason = findProblem(found)
  if (isOwnLayer) {
    checkReference(field.value, field.path, declared, error)
    if (reason !== undefined) error({ path: field.path, reason, at: "value" })
    return
  }
  const hidden: Reason | undefined = declared.names.has(field.value)
    ? reason
    : { _tag: "ChannelOmitted", channel: JSON.stringify(field.value), place: formatPath(field.path) }
  if (hidden !== undefined) error({ path: last, reason: hidden, at: "key" })
}
