/**
 * Client for a Swarm (P4 Code Review) server: reviews of changelists, and comments on them. It uses version 9 of the API, which every
 * release since 2018.1 has, and which alone edits comments and the states of their tasks.
 *
 * The server reports some failures with status 200 and `{"error": "Unauthorized"}`.
 */
import { Effect, Redacted } from "effect"
import { ForgeError } from "../ForgeError.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import type { HostWrite } from "../HostWrite.ts"
import type { HostResponse } from "../HostResponse.ts"
import { makeRest } from "../http/Http.ts"
import type { Rest } from "../http/Http.ts"
import { makeDispatcher } from "../http/Profile.ts"
import type { Writing } from "../WriteOwner.ts"
import { Comments, ReviewDetails, Reviews, toItems, toPlace, Version9, Written } from "./Responses.ts"
import type { Comment } from "./Responses.ts"

interface SwarmServer {
  readonly traffic: HostTraffic["Service"]
  /** Name of the channel, for messages. */
  readonly channel: string
  /** Web URL without a trailing slash. */
  readonly url: string
  readonly user: string
  /** Ticket or password. */
  readonly secret: Redacted.Redacted
  /** Absolute path. */
  readonly tlsCaPath: string | undefined
  readonly proxy: string | undefined
}

export interface SwarmReview {
  readonly id: string
  /** Numbers of changelists: pending, of versions, and submitted. */
  readonly changes: ReadonlyArray<string>
  readonly commits: ReadonlyArray<string>
  readonly state: string
  /** Number of its comments, with archived ones. */
  readonly comments: number
}

export interface SwarmComment {
  readonly id: string
  /** Id of the review that it is on; undefined for comments on changelists and jobs. */
  readonly review: string | undefined
  readonly user: string
  readonly body: string
  readonly taskState: string
  readonly isArchived: boolean
  /** Milliseconds since the epoch, by the clock of Swarm. */
  readonly createdAt: number
  /** Undefined for a comment on the whole review that does not reply to another one. */
  readonly place: SwarmPosition | undefined
}

export type Notifications = "batched" | "immediate" | "none"

/** Position of a comment; lines of one side. */
export interface SwarmPosition {
  readonly file?: string
  readonly leftLine?: number
  readonly rightLine?: number
  /** Position of the version in the review, from 1. Default: the newest. */
  readonly version?: number
  /** Id of the comment to which it replies. */
  readonly comment?: number
}

/** A review whose comments are read and written. */
export type CommentedReview = Pick<SwarmReview, "id" | "comments">

export interface NewComment {
  readonly body: string
  readonly isTask: boolean
  readonly context: SwarmPosition | undefined
  readonly notifications: Notifications
}

interface CommentEdit {
  readonly body?: string
  readonly taskState?: "open" | "addressed"
  readonly flags?: ReadonlyArray<"closed">
  readonly notifications: Notifications
}

export interface SwarmClient {
  /** Login of the configured user. */
  readonly user: string
  /** Returns the reviews that contain a changelist. */
  readonly reviewsOf: (change: string) => Effect.Effect<ReadonlyArray<SwarmReview>, ForgeError>
  /** Returns the changelists of each version of a review, the first version first. */
  readonly versions: (review: string) => Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, ForgeError>
  /** Returns all comments on a review in the order of their creation, with archived ones. */
  readonly comments: (review: CommentedReview) => Effect.Effect<ReadonlyArray<SwarmComment>, ForgeError>
  /** Returns the comments on everything after one, in the order of their creation: a page, by one request. `last`: the last id of the page. */
  readonly commentsAfter: (id: number) => Effect.Effect<
    {
      readonly comments: ReadonlyArray<SwarmComment>
      readonly last: number
    },
    ForgeError
  >
  readonly create: (review: CommentedReview, comment: NewComment) => Effect.Effect<HostWrite, ForgeError, Writing>
  readonly edit: (
    review: CommentedReview,
    id: string,
    edit: CommentEdit
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Returns the address of the comments of a review. */
  readonly address: (review: string) => string
  /** Reads with the credential and returns the server's version. */
  readonly check: Effect.Effect<string, ForgeError>
}

const pageSize = 100
/** Comments of one review that are read; more are refused, because an existing one could be missed and written again. */
const maxPages = 100
/** Characters of the comments of one review that are kept in memory, for the same reason. */
const maxCommentCharacters = 33_554_432
/** Reviews of one changelist that are read. */
const maxReviews = 50

const statuses: Readonly<Record<string, number>> = {
  unauthorized: 401,
  forbidden: 403,
  "not found": 404,
  "method not allowed": 405
}

/** Returns the status that corresponds to the error of a successful response. */
const toStatus = ({ body, status }: HostResponse): number => {
  if (!/^\s*\{\s*"error"\s*:\s*"/.test(body)) return status
  const [, text = ""] = /"error"\s*:\s*"([^"\\]{0,100})/.exec(body) ?? []
  return statuses[text.toLowerCase()] ?? 400
}

/** Flags are texts: Swarm compares them with "true". */
const toNotifications = (notifications: Notifications) =>
  notifications === "none"
    ? { silenceNotification: "true" }
    : { delayNotification: notifications === "batched" ? "true" : "false" }

const commentFields = "id,topic,user,time,body,flags,taskState,context"

/** Returns the fields that have a value. */
const toPosition = (context: unknown): SwarmPosition | undefined => {
  const { comment, file, leftLine, rightLine, version } = toPlace(context) ?? {}
  const position: SwarmPosition = {
    ...(file == null ? {} : { file }),
    ...(leftLine == null ? {} : { leftLine }),
    ...(rightLine == null ? {} : { rightLine }),
    ...(version == null ? {} : { version }),
    ...(comment == null ? {} : { comment: Number(comment) })
  }
  return Object.keys(position).length === 0 ? undefined : position
}

const toComment = ({ body, context, flags, id, taskState, time, topic, user }: Comment): SwarmComment => ({
  id: String(id),
  review: /^reviews\/(\d{1,18})$/.exec(topic ?? "")?.[1],
  user: user ?? "",
  body,
  taskState: taskState ?? "comment",
  isArchived: toItems(flags ?? []).includes("closed"),
  createdAt: (time ?? 0) * 1000,
  place: toPosition(context)
})

const toTexts = (ids: Parameters<typeof toItems<number | string>>[0] | undefined): ReadonlyArray<string> =>
  toItems(ids ?? []).map(String)

const readReviews = Effect.fnUntraced(function* (rest: Rest, change: string) {
  const { reviews } = yield* rest.get(
    { path: "/reviews", query: { "change[]": change, max: maxReviews, fields: "id,changes,commits,state,comments" } },
    Reviews
  )
  return toItems(reviews).map(({ changes, comments = [], commits, id, state = "" }): SwarmReview => ({
    id: String(id),
    changes: toTexts(changes),
    commits: toTexts(commits),
    state,
    comments: comments.reduce((sum, count) => sum + count, 0)
  }))
})

const readComments = Effect.fnUntraced(function* (rest: Rest, { comments: expected, id }: CommentedReview) {
  const path = "/comments"
  const all: Array<SwarmComment> = []
  let after: string | undefined
  let characters = 0
  for (let page = 0; page < maxPages; page++) {
    const query = { topic: `reviews/${id}`, max: pageSize, after, fields: commentFields }
    const found = yield* rest.get({ path, query }, Comments)
    const comments = toItems(found.comments).map(toComment)
    // Swarm responds with no comments when it could not read them.
    if (comments.length === 0 && all.length === 0 && expected > 0)
      return yield* new ForgeError({
        reason: "unavailable",
        operation: `GET ${path}`,
        why: { _tag: "SwarmCommentsMissing", review: id, count: expected }
      })
    characters += comments.reduce((sum, { body }) => sum + body.length, 0)
    if (characters > maxCommentCharacters)
      return yield* new ForgeError({
        reason: "invalid",
        operation: `GET ${path}`,
        why: { _tag: "SwarmCommentsTooLong", review: id, count: maxCommentCharacters }
      })
    all.push(...comments)
    // A page may be short or empty although there are more, because Swarm omits what the user may not read.
    const last = found.lastSeen ?? undefined
    if (last === undefined || String(last) === after) return all
    after = String(last)
  }
  return yield* new ForgeError({
    reason: "invalid",
    operation: `GET ${path}`,
    why: { _tag: "SwarmCommentsTooMany", review: id, count: maxPages * pageSize }
  })
})

const makeWrites = (rest: Rest, address: SwarmClient["address"]): Pick<SwarmClient, "create" | "edit"> => {
  const toWrite = ({ id: review }: CommentedReview, { comment }: typeof Written.Type): HostWrite => ({
    hostId: String(comment.id),
    url: address(review)
  })
  return {
    create: (review, { body, context, isTask, notifications }) =>
      Effect.map(
        rest.write(
          {
            method: "POST",
            path: "/comments",
            content: true,
            body: {
              topic: `reviews/${review.id}`,
              body,
              taskState: isTask ? "open" : "comment",
              ...(context === undefined ? {} : { context }),
              ...toNotifications(notifications)
            }
          },
          Written
        ),
        (written) => toWrite(review, written)
      ),
    edit: (review, id, { notifications, ...edit }) =>
      Effect.map(
        rest.write(
          {
            method: "PATCH",
            path: "/comments/{id}",
            params: { id },
            content: true,
            body: { ...edit, ...toNotifications(notifications) }
          },
          Written
        ),
        (written) => toWrite(review, written)
      )
  }
}

export const makeSwarm = ({ channel, proxy, secret, tlsCaPath, traffic, url, user }: SwarmServer): SwarmClient => {
  const login = Buffer.from(`${user}:${Redacted.value(secret)}`, "utf8").toString("base64")
  const rest = makeRest({
    traffic,
    apiUrl: Effect.succeed(`${url}/api/v9`),
    credential: Effect.succeed({
      account: user,
      headers: { authorization: Redacted.make(`Basic ${login}`) },
      secrets: [secret, Redacted.make(login)]
    }),
    headers: {},
    dispatcher: makeDispatcher({ channel }, { url, proxy, caPath: tlsCaPath }),
    status: toStatus,
    advice: {
      unauthorized: { _tag: "SwarmRefusesUser", user, channel },
      forbidden: { _tag: "SwarmUserLacksPermission", user, channel },
      not_found: { _tag: "HiddenFromSwarmUser", user, channel },
      rate_limited: { _tag: "SwarmLimitsUser" },
      unreadable: { _tag: "CheckChannelBaseUrl", channel }
    }
  })
  const address = (review: string): string => `${url}/reviews/${review}#comments`
  return {
    user,
    reviewsOf: (change) => readReviews(rest, change),
    versions: (id) =>
      Effect.map(
        rest.get({ path: "/reviews/{id}", params: { id }, query: { fields: "id,versions" } }, ReviewDetails),
        ({ review }) =>
          toItems(review.versions ?? []).map(({ archiveChange, change }) =>
            [change, archiveChange ?? undefined].flatMap((one) => (one === undefined ? [] : [String(one)]))
          )
      ),
    comments: (review) => readComments(rest, review),
    commentsAfter: (id) =>
      Effect.map(
        rest.get({ path: "/comments", query: { max: pageSize, after: id, fields: commentFields } }, Comments),
        ({ comments, lastSeen }) => ({ comments: toItems(comments).map(toComment), last: Number(lastSeen ?? id) })
      ),
    address,
    ...makeWrites(rest, address),
    check: Effect.gen(function* () {
      yield* rest.get({ path: "/reviews", query: { max: 1, fields: "id" } }, Reviews)
      const { version = "Swarm" } = yield* rest.get({ path: "/version" }, Version9)
      return version
    })
  }
}
