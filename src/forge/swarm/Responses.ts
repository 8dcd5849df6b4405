/**
 * Schemas of the used parts of responses of Swarm (P4 Code Review), version 9 of its API. PHP writes an empty map as a list, and a map
 * with numbers as keys as a map or as a list.
 */
import { Option, Schema } from "effect"

/** Numbers: an id becomes a part of URLs and topics. */
const Id = Schema.Union([
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  Schema.String.check(Schema.isPattern(/^\d{1,18}$/))
])

const listed = <S extends Schema.ConstraintDecoder<unknown>>(item: S) =>
  Schema.Union([Schema.Array(item), Schema.Record(Schema.String, item)])

/** Returns the items in the order of the response. */
export const toItems = <A>(items: ReadonlyArray<A> | Readonly<Record<string, A>>): ReadonlyArray<A> =>
  Object.values(items)

const Review = Schema.Struct({
  id: Id,
  changes: Schema.optional(listed(Id)),
  commits: Schema.optional(listed(Id)),
  state: Schema.optional(Schema.String),
  /** Number of open and of archived comments. */
  comments: Schema.optional(Schema.Array(Schema.Int))
})

export const Reviews = Schema.Struct({ reviews: listed(Review) })

const Version = Schema.Struct({ change: Schema.optional(Id), archiveChange: Schema.optional(Schema.NullOr(Id)) })

export const ReviewDetails = Schema.Struct({
  review: Schema.Struct({ id: Id, versions: Schema.optional(listed(Version)) })
})

export const Comment = Schema.Struct({
  id: Id,
  topic: Schema.optional(Schema.NullOr(Schema.String)),
  /** Seconds since the epoch. */
  time: Schema.optional(Schema.NullOr(Schema.Number)),
  /** Read by `toPlace`: its form differs between releases, and only replies need it. */
  context: Schema.optional(Schema.Unknown),
  user: Schema.optional(Schema.NullOr(Schema.String)),
  body: Schema.String,
  flags: Schema.optional(Schema.NullOr(listed(Schema.String))),
  taskState: Schema.optional(Schema.NullOr(Schema.String))
})
export type Comment = typeof Comment.Type

const Place = Schema.Struct({
  file: Schema.optional(Schema.NullOr(Schema.String)),
  leftLine: Schema.optional(Schema.NullOr(Schema.Int)),
  rightLine: Schema.optional(Schema.NullOr(Schema.Int)),
  version: Schema.optional(Schema.NullOr(Schema.Int)),
  /** The comment to which it replies. */
  comment: Schema.optional(Schema.NullOr(Id))
})

/** Reads the context of a comment; undefined for one that has none, or another form. */
export const toPlace = (context: unknown): typeof Place.Type | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(Place)(context))

export const Comments = Schema.Struct({
  comments: listed(Comment),
  lastSeen: Schema.optional(Schema.NullOr(Id))
})

export const Written = Schema.Struct({ comment: Schema.Struct({ id: Id }) })

export const Version9 = Schema.Struct({ version: Schema.optional(Schema.String) })
