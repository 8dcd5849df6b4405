/** Reads what changed at GitLab. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { HostChanges } from "../hosts/HostChanges.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import {
  listPulls,
  listTips,
  maxComments,
  maxStatuses,
  newestPulls,
  readChangedPull,
  readCommit,
  reader,
  readFound,
  readOwnStatus,
  readTip,
  toIsoSecond,
  toSecond,
  writtenSince
} from "../hosts/ReadChanges.ts"
import { isRefused } from "../http/HostWords.ts"
import type { Rest } from "../http/Http.ts"
import { limits } from "../webhook/Payload.ts"
import { stateNames, statusName } from "./Comments.ts"
import { pages, refusals } from "./Facts.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./Paths.ts"
import { ChangedMergeRequest, Comparison, ListedStatus, PushedCommit, Tip, toPerson, WrittenNote } from "./Responses.ts"

const readChanged = reader(ChangedMergeRequest, (source) =>
  readChangedPull({
    fullName: /^(.+)!\d+$/.exec(source.references.full)?.[1],
    hostId: source.project_id,
    number: source.iid,
    updatedAt: source.updated_at
  })
)

const gitlabPullList = (rest: Rest): HostChanges["pulls"] => {
  const read = (path: string, id: string, since: number | undefined, max: number) => {
    const query = {
      state: "all",
      scope: "all",
      order_by: "updated_at",
      sort: "desc",
      updated_after: since === undefined ? undefined : toIsoSecond(since)
    }
    return Effect.map(
      rest.list({ path, params: { id }, query, isPolled: true }, readChanged, { ...pages, max }),
      ({ items, more }) => newestPulls(items, more, max)
    )
  }
  return listPulls({
    ofOwner: ({ name }, since, max) => read("/groups/{id}/merge_requests", name, since, max),
    ofRepository: (fullName, since, max) => read(`${projectPath}/merge_requests`, projectId({ fullName }), since, max),
    hasNone: isRefused(refusals.noGroup)
  })
}

/** Types of notes that may be replies. */
const threadTypes: ReadonlyArray<string> = ["DiffNote", "DiscussionNote"]

const readNote = reader(WrittenNote, ({ author, body, created_at: createdAt, id, system, type }) => {
  const place = { id: String(id), on: "pull_request", kind: type === "DiffNote" ? "line" : "general" } as const
  const comment = readFound(place, threadTypes.includes(type ?? ""), { body, author: toPerson(author), createdAt })
  return comment === undefined ? undefined : { comment, isSystem: system === true }
})

const toTip = reader(Tip, ({ commit, name }) => readTip(name, commit.id))

const readPushed = reader(PushedCommit, ({ author_email: email, author_name: name, id, message }) =>
  readCommit(id, message, undefined, name, email)
)

export const gitlabChanges = (rest: Rest, self: ForgeClient["self"]): HostChanges => ({
  deliveries: undefined,
  pulls: gitlabPullList(rest),
  issues: undefined,
  comments: (repo, number, since) =>
    Effect.map(
      rest.list(
        {
          path: `${mergeRequestPath}/notes`,
          params: mergeRequest(repo, number),
          query: { order_by: "created_at", sort: "desc", activity_filter: "only_comments" }
        },
        readNote,
        { ...pages, max: maxComments },
        ({ items }) => items.some(({ comment }) => comment.createdAt < toSecond(since))
      ),
      ({ items }) =>
        writtenSince(
          items.flatMap(({ comment, isSystem }) => (isSystem ? [] : comment)),
          since
        )
    ),
  tips: (repo, branches) => {
    const call = { path: `${projectPath}/repository/branches`, params: { id: projectId(repo) } }
    return listTips(rest, call, pages, toTip, branches)
  },
  pushed: (repo, before, after) =>
    Effect.map(
      rest.get(
        {
          path: `${projectPath}/repository/compare`,
          params: { id: projectId(repo) },
          query: { from: before, to: after }
        },
        Comparison
      ),
      ({ commits }) => ({
        commits: commits.length,
        listed: commits.slice(0, limits.commits).flatMap((commit) => readPushed(commit) ?? [])
      })
    ),
  ownStatus: Effect.fnUntraced(function* (repo, head) {
    const account = yield* self
    const { items } = yield* rest.list(
      {
        path: `${projectPath}/repository/commits/{sha}/statuses`,
        params: { id: projectId(repo), sha: head },
        query: { name: statusName, all: "true" }
      },
      reader(ListedStatus, ({ author, created_at, id, name, status }) => {
        const isOwn = name === statusName && author !== null && author !== undefined && isBy(author, account)
        const read = readOwnStatus(stateNames, { isOwn, name: status, createdAt: created_at })
        return read && { ...read, id }
      }),
      { ...pages, max: maxStatuses }
    )
    const [latest] = items.toSorted((a, b) => b.id - a.id)
    return latest === undefined ? undefined : { state: latest.state, at: latest.at }
  })
})
