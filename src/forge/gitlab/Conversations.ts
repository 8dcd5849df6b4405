/**
 * Conversations at GitLab, where every comment on a merge request, an issue or a commit begins a discussion or belongs to one. Internal
 * notes, which only members of the project see, are read only for a reply to one of them.
 */
import { Effect, Schema } from "effect"
import type { CommentPlace, Repo } from "../../domain/Change.ts"
import type { ConversationTarget, ForgeClient, HostConversations } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import type { Account } from "../hosts/OwnAccount.ts"
import { maxComments, reader } from "../hosts/ReadChanges.ts"
import { maxConversation, readConversationComment, toConversation } from "../hosts/ReadConversation.ts"
import { requestFailed } from "../ForgeError.ts"
import { pages } from "./Facts.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./Paths.ts"
import { Discussed, DiscussionNote, FullDiscussion, Note, Project, toPerson } from "./Responses.ts"

type Notes = (typeof FullDiscussion.Type)["notes"]

/** Matches the accounts that GitLab creates for tokens of projects and groups. It names no other bots. */
const botName = /^(?:project|group)_\d+_bot(?:_|$)/

const isInternal = ({ confidential, internal }: Notes[number]): boolean => internal === true || confidential === true

/** Returns the notes of people that the readers of a note may read. */
const visible = (notes: Notes, toMembers: boolean): Notes =>
  notes.filter((note) => note.system !== true && (toMembers || !isInternal(note)))

const toComments = (notes: Notes, account: Account) =>
  notes.flatMap(
    ({ author, body, created_at: createdAt, id }) =>
      readConversationComment(
        {
          id: String(id),
          body,
          person: toPerson(author),
          author,
          isBot: botName.test(author.username),
          createdAt
        },
        account
      ) ?? []
  )

/** Returns path and parameters of what a comment is on. */
const locate = (repo: Repo, { head, number = 0 }: ConversationTarget, on: CommentPlace["on"]) =>
  ({
    pull_request: { path: mergeRequestPath, params: mergeRequest(repo, number) },
    issue: { path: `${projectPath}/issues/{issue_iid}`, params: { id: projectId(repo), issue_iid: number } },
    commit: { path: `${projectPath}/repository/commits/{sha}`, params: { id: projectId(repo), sha: head ?? "" } }
  })[on]

const makeFind = (rest: Rest) =>
  /** Returns the discussion of a comment; undefined if it was deleted. One that no delivery named is searched for. */
  Effect.fnUntraced(function* (repo: Repo, target: ConversationTarget, place: CommentPlace) {
    const { params, path } = locate(repo, target, place.on)
    if (place.thread !== undefined)
      return yield* undefinedIfMissing(
        rest.get(
          { path: `${path}/discussions/{discussion_id}`, params: { ...params, discussion_id: place.thread } },
          FullDiscussion
        )
      )
    const holds = ({ notes }: typeof FullDiscussion.Type) => notes.some(({ id }) => String(id) === place.id)
    const { items } = yield* rest.list(
      { path: `${path}/discussions`, params },
      reader(FullDiscussion, (discussion) => (holds(discussion) ? discussion : undefined)),
      { ...pages, max: maxComments },
      ({ items: found }) => found.length > 0
    )
    return items[0]
  })

const gone = requestFailed("not_found", "reply in a discussion", { _tag: "MissingOrHidden" })

const emoji = { eyes: "eyes", thumbs_up: "thumbsup", confused: "confused" } as const

const makeRead = (
  rest: Rest,
  self: ForgeClient["self"],
  find: ReturnType<typeof makeFind>
): HostConversations["read"] => {
  const readNewest = (repo: Repo, target: ConversationTarget, on: CommentPlace["on"]) => {
    const { params, path } = locate(repo, target, on)
    const query = { order_by: "created_at", sort: "desc", activity_filter: "only_comments" }
    return rest.list(
      { path: `${path}/notes`, params, query },
      reader(DiscussionNote, (note) => note),
      { ...pages, max: maxConversation }
    )
  }
  return Effect.fnUntraced(function* (repo, target, place) {
    const account = yield* self
    const discussion = yield* find(repo, target, place)
    const own = discussion?.notes.find(({ id }) => String(id) === place.id)
    const [first] = discussion?.notes ?? []
    if (discussion === undefined || own === undefined || first === undefined) return undefined
    const toMembers = isInternal(first)
    const { params, path } = locate(repo, target, place.on)
    const state = place.on === "commit" ? undefined : yield* rest.get({ path, params }, Discussed)
    const below =
      discussion.individual_note === true && place.on !== "commit"
        ? yield* readNewest(repo, target, place.on)
        : { items: [], more: 0 }
    const position = first.position ?? undefined
    return toConversation(toComments(visible([...discussion.notes, ...below.items], toMembers), account), place, {
      isLocked: state?.discussion_locked === true,
      isMore: below.more > 0,
      isResolved: first.resolved === true,
      path: position?.new_path ?? position?.old_path ?? undefined,
      line: position?.new_line ?? position?.old_line ?? undefined,
      side: position === undefined ? undefined : position.new_line ? "new" : "old"
    })
  })
}

export const gitlabConversations = (rest: Rest, self: ForgeClient["self"]): HostConversations => {
  const find = makeFind(rest)
  return {
    read: makeRead(rest, self, find),
    reply: Effect.fnUntraced(function* (repo, target, place, body) {
      const thread = place.thread ?? (yield* find(repo, target, place))?.id
      if (thread === undefined) return yield* gone
      const { params, path } = locate(repo, target, place.on)
      const note = yield* rest.write(
        {
          method: "POST",
          path: `${path}/discussions/{discussion_id}/notes`,
          params: { ...params, discussion_id: thread },
          body: { body },
          content: true
        },
        Note
      )
      return { hostId: String(note.id), url: undefined }
    }),
    findReply: Effect.fnUntraced(function* (repo, target, place, marker) {
      const account = yield* self
      const discussion = yield* find(repo, target, place)
      const reply = discussion?.notes.find(({ author, body }) => isBy(author, account) && body.includes(marker))
      return reply && { hostId: String(reply.id), url: undefined, body: reply.body }
    }),
    react: (repo, target, { id, on }, reaction) => {
      // The API has no reactions to comments on commits.
      if (on === "commit") return Effect.void
      const { params, path } = locate(repo, target, on)
      return rest
        .write(
          {
            method: "POST",
            path: `${path}/notes/{note_id}/award_emoji`,
            params: { ...params, note_id: id },
            body: { name: emoji[reaction] },
            content: false
          },
          Schema.Unknown
        )
        .pipe(
          // A second one of the same name is refused like one to a missing note.
          undefinedIfMissing,
          Effect.asVoid
        )
    },
    isPrivate: (repo) =>
      Effect.map(rest.get({ path: projectPath, params: { id: projectId(repo) } }, Project), ({ visibility }) =>
        visibility === undefined || visibility === null ? undefined : visibility === "private"
      )
  }
}
