/** Schemas of the parts of GitHub's responses that are read. */
import { Schema } from "effect"
import type { Person } from "../../domain/Change.ts"
import type { Author } from "../hosts/OwnAccount.ts"
import { Permissions } from "../hosts/WriteAccess.ts"

const Text = Schema.optional(Schema.NullOr(Schema.String))

export const User = Schema.Struct({
  id: Schema.optional(Schema.Int),
  login: Schema.String,
  name: Text,
  /** `Bot` for an app. */
  type: Text
})

/** Permissions of the account in a repository. */
export const Repository = Schema.Struct({
  full_name: Text,
  private: Schema.optional(Schema.Boolean),
  /** `internal`: everybody of the enterprise may read a private repository. */
  visibility: Text,
  permissions: Permissions
})

export const Pull = Schema.Struct({
  number: Schema.Int,
  comments: Schema.optional(Schema.NullOr(Schema.Int)),
  review_comments: Schema.optional(Schema.NullOr(Schema.Int)),
  state: Schema.Literals(["open", "closed"]),
  merged: Schema.optional(Schema.NullOr(Schema.Boolean)),
  merged_by: Schema.optional(Schema.NullOr(User)),
  merge_commit_sha: Text,
  draft: Schema.optional(Schema.NullOr(Schema.Boolean)),
  title: Schema.String,
  body: Text,
  html_url: Schema.String,
  user: Schema.NullOr(User),
  labels: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.String }))),
  head: Schema.Struct({
    ref: Schema.String,
    sha: Schema.String,
    repo: Schema.optional(Schema.NullOr(Schema.Struct({ id: Schema.Int, full_name: Schema.String })))
  }),
  base: Schema.Struct({
    ref: Schema.String,
    sha: Schema.String,
    repo: Schema.Struct({
      id: Schema.Int,
      full_name: Schema.String,
      clone_url: Schema.String,
      html_url: Schema.String,
      default_branch: Schema.optional(Schema.String)
    })
  })
})

/** Pull request in a list. */
export const ListedPull = Schema.Struct({
  number: Schema.Int,
  state: Schema.String,
  head: Schema.Struct({ sha: Schema.String })
})

/** Result of a search for pull requests. */
export const FoundPulls = Schema.Struct({
  total_count: Schema.Int,
  incomplete_results: Schema.optional(Schema.Boolean),
  items: Schema.Array(Schema.Unknown)
})
export const FoundPull = Schema.Struct({
  number: Schema.Int,
  updated_at: Schema.String,
  repository_url: Schema.String
})
/** Pull request in a list by the time of the update. */
export const ChangedPullItem = Schema.Struct({
  number: Schema.Int,
  updated_at: Schema.String,
  base: Schema.Struct({ repo: Schema.Struct({ id: Schema.Int, full_name: Schema.String }) })
})

/** Common fields of a review, a comment in one, and a comment on the pull request. */
export const Note = Schema.Struct({
  id: Schema.Int,
  body: Text,
  html_url: Text,
  user: Schema.optional(Schema.NullOr(User))
})

export const WrittenNote = Schema.Struct({ ...Note.fields, created_at: Schema.String })

export const WrittenReply = Schema.Struct({
  ...WrittenNote.fields,
  in_reply_to_id: Schema.optional(Schema.NullOr(Schema.Int))
})

export const Review = Schema.Struct({ ...Note.fields, state: Schema.String })
export const SubmittedReview = Schema.Struct({ ...Note.fields, submitted_at: Text })

/** Issue or pull request of which only the state of its conversation is read. */
export const Discussed = Schema.Struct({
  locked: Schema.optional(Schema.Boolean),
  comments: Schema.optional(Schema.NullOr(Schema.Int))
})

/** Inline comment; one with `in_reply_to_id` is a reply. */
export const ReviewComment = Schema.Struct({
  id: Schema.Int,
  body: Text,
  path: Text,
  pull_request_review_id: Schema.optional(Schema.NullOr(Schema.Int)),
  line: Schema.optional(Schema.NullOr(Schema.Int)),
  original_line: Schema.optional(Schema.NullOr(Schema.Int)),
  side: Text,
  in_reply_to_id: Schema.optional(Schema.NullOr(Schema.Int)),
  created_at: Text,
  html_url: Text,
  user: Schema.optional(Schema.NullOr(User)),
  reactions: Schema.optional(Schema.NullOr(Schema.Struct({ "-1": Schema.optional(Schema.Int) })))
})

/** Threads of a pull request as the GraphQL API lists them, each with its first comment. */
export const ReviewThreads = Schema.Struct({
  data: Schema.Struct({
    repository: Schema.Struct({
      pullRequest: Schema.Struct({
        reviewThreads: Schema.Struct({
          pageInfo: Schema.Struct({ hasNextPage: Schema.Boolean, endCursor: Schema.NullOr(Schema.String) }),
          nodes: Schema.Array(
            Schema.Struct({
              id: Schema.String,
              isResolved: Schema.Boolean,
              comments: Schema.Struct({
                nodes: Schema.Array(
                  Schema.Struct({ fullDatabaseId: Schema.NullOr(Schema.Union([Schema.String, Schema.Int])) })
                )
              })
            })
          )
        })
      })
    })
  })
})

/** Response to a mutation of a thread. One that was refused has `null` in place of the thread. */
export const ChangedThread = Schema.Struct({
  data: Schema.Union([
    Schema.Struct({
      resolveReviewThread: Schema.Struct({ thread: Schema.Struct({ isResolved: Schema.Literal(true) }) })
    }),
    Schema.Struct({
      unresolveReviewThread: Schema.Struct({ thread: Schema.Struct({ isResolved: Schema.Literal(false) }) })
    })
  ])
})

export const Reaction = Schema.Struct({
  content: Schema.String,
  user: Schema.optional(Schema.NullOr(User))
})

export const Commit = Schema.Struct({ sha: Schema.String })
/** Commit of the branch of a merge group. */
export const QueueCommit = Schema.Struct({
  sha: Schema.String,
  parents: Schema.Array(Commit),
  commit: Schema.Struct({ message: Text })
})
/** Branch of a merge group. */
export const QueueRef = Schema.Struct({ ref: Schema.String, object: Commit })
export const Branch = Schema.Struct({ protected: Schema.Boolean, commit: Commit })
/** Branch of which only the tip is read. */
export const Tip = Schema.Struct({ name: Schema.String, commit: Commit })

export const Issue = Schema.Struct({
  number: Schema.Int,
  title: Schema.String,
  state: Schema.String,
  body: Text,
  html_url: Text,
  comments: Schema.optional(Schema.NullOr(Schema.Int)),
  user: Schema.optional(Schema.NullOr(User)),
  pull_request: Schema.optional(Schema.NullOr(Schema.Unknown)),
  labels: Schema.optional(Schema.Array(Schema.Union([Schema.String, Schema.Struct({ name: Text })])))
})

/**
 * Commit with its author: from git, and the account that GitHub associates with it (`{}` for none in responses of old servers).
 */
export const WrittenCommit = Schema.Struct({
  author: Schema.optional(Schema.NullOr(Schema.Struct({ login: Text }))),
  commit: Schema.Struct({ author: Schema.optional(Schema.NullOr(Schema.Struct({ email: Text, name: Text }))) })
})
/** Commits that one commit has and another one has not. */
export const Comparison = Schema.Struct({ total_commits: Schema.Int, commits: Schema.Array(Schema.Unknown) })
export const PushedCommit = Schema.Struct({
  sha: Text,
  author: WrittenCommit.fields.author,
  commit: Schema.Struct({ ...WrittenCommit.fields.commit.fields, message: Text })
})
export const ListedStatus = Schema.Struct({
  context: Schema.String,
  state: Schema.String,
  created_at: Schema.String,
  creator: Schema.optional(Schema.NullOr(User))
})
export const Status = Schema.Struct({ id: Schema.Int, url: Text })
export const CheckRun = Schema.Struct({
  id: Schema.Int,
  status: Schema.String,
  conclusion: Text,
  external_id: Text,
  html_url: Text,
  started_at: Text,
  app: Schema.optional(Schema.NullOr(Schema.Struct({ slug: Text })))
})
export const CheckRuns = Schema.Struct({ check_runs: Schema.Array(CheckRun) })
export const Collaborator = Schema.Struct({ login: Schema.String, permissions: Permissions })
export const Permission = Schema.Struct({ permission: Schema.String })
export const App = Schema.Struct({ slug: Schema.String, name: Text })
/** An attempt of a delivery. Its id may be beyond the exact integers, and then is its digits. */
export const Delivery = Schema.Struct({
  id: Schema.Union([Schema.Int, Schema.String]),
  guid: Schema.String,
  delivered_at: Schema.String,
  redelivery: Schema.Boolean,
  status_code: Schema.Int,
  event: Schema.String,
  action: Schema.NullOr(Schema.String),
  repository_id: Schema.optional(Schema.NullOr(Schema.Int))
})
export const DeliveredPayload = Schema.Struct({
  event: Schema.String,
  request: Schema.Struct({ payload: Schema.Unknown })
})
export const Installation = Schema.Struct({
  id: Schema.Int,
  permissions: Schema.optional(Schema.Record(Schema.String, Schema.String))
})
export const InstallationToken = Schema.Struct({
  token: Schema.String,
  expires_at: Schema.String,
  permissions: Installation.fields.permissions
})

/** Repository in the list of its owner, or of an installation. */
export const ListedRepository = Schema.Struct({
  id: Schema.Int,
  full_name: Schema.String,
  archived: Schema.optional(Schema.NullOr(Schema.Boolean))
})

/** Returns the author of a text. */
export const toAuthor = (user: typeof User.Type | null | undefined): Author => ({
  id: user?.id,
  username: user?.login
})

export const toPerson = (user: typeof User.Type | null | undefined): Person | undefined => {
  if (user === null || user === undefined) return undefined
  return user.name ? { username: user.login, name: user.name } : { username: user.login }
}
