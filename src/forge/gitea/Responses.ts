/** Schemas of the parts of the responses of Gitea and Forgejo that are read. */
import { Schema } from "effect"
import type { Person } from "../../domain/Change.ts"
import type { Author } from "../hosts/OwnAccount.ts"
import { Permissions } from "../hosts/WriteAccess.ts"

const Text = Schema.optional(Schema.NullOr(Schema.String))

/** Old servers send only `username`, new ones `login` and sometimes both. */
export const User = Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.Int)),
  login: Text,
  username: Text,
  full_name: Text
})

/** Permissions of the account in a repository. */
export const Repository = Schema.Struct({
  full_name: Text,
  private: Schema.optional(Schema.NullOr(Schema.Boolean)),
  /** Everybody with an account may read it, because its organisation is limited to them. */
  internal: Schema.optional(Schema.NullOr(Schema.Boolean)),
  permissions: Permissions
})

export const Pull = Schema.Struct({
  number: Schema.Int,
  comments: Schema.optional(Schema.NullOr(Schema.Int)),
  review_comments: Schema.optional(Schema.NullOr(Schema.Int)),
  state: Schema.Literals(["open", "closed"]),
  merged: Schema.Boolean,
  merged_by: Schema.optional(Schema.NullOr(User)),
  merge_commit_sha: Schema.optional(Schema.NullOr(Schema.String)),
  draft: Schema.optional(Schema.NullOr(Schema.Boolean)),
  title: Schema.String,
  body: Text,
  html_url: Schema.String,
  user: Schema.optional(Schema.NullOr(User)),
  labels: Schema.optional(Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String })))),
  head: Schema.Struct({
    ref: Schema.String,
    sha: Schema.String,
    repo: Schema.optional(Schema.NullOr(Schema.Struct({ id: Schema.Int, full_name: Schema.String })))
  }),
  base: Schema.Struct({
    ref: Schema.String,
    sha: Schema.String,
    repo: Schema.optional(
      Schema.NullOr(
        Schema.Struct({
          id: Schema.Int,
          full_name: Schema.String,
          clone_url: Schema.String,
          html_url: Schema.String,
          default_branch: Schema.optional(Schema.String)
        })
      )
    )
  })
})

/** Pull request in a list. */
export const ListedPull = Schema.Struct({
  number: Schema.Int,
  state: Schema.String,
  head: Schema.Struct({ sha: Schema.String })
})

/** Pull request in a list of issues. */
export const ChangedIssue = Schema.Struct({
  number: Schema.Int,
  updated_at: Schema.String,
  repository: Schema.Struct({ id: Schema.Int, full_name: Schema.String })
})

export const ListedIssue = Schema.Struct({
  ...ChangedIssue.fields,
  title: Schema.String,
  html_url: Text,
  created_at: Schema.String,
  user: Schema.optional(Schema.NullOr(User))
})

export const Review = Schema.Struct({
  id: Schema.Int,
  body: Text,
  html_url: Text,
  comments_count: Schema.optional(Schema.NullOr(Schema.Int)),
  submitted_at: Text,
  state: Schema.optional(Schema.NullOr(Schema.String)),
  dismissed: Schema.optional(Schema.NullOr(Schema.Boolean)),
  user: Schema.optional(Schema.NullOr(User))
})

export const ReviewComment = Schema.Struct({
  id: Schema.Int,
  body: Text,
  html_url: Text,
  path: Text,
  position: Schema.optional(Schema.NullOr(Schema.Int)),
  original_position: Schema.optional(Schema.NullOr(Schema.Int)),
  created_at: Text,
  user: Schema.optional(Schema.NullOr(User)),
  resolver: Schema.optional(Schema.NullOr(User))
})

export const Comment = Schema.Struct({
  id: Schema.Int,
  body: Text,
  html_url: Text,
  user: Schema.optional(Schema.NullOr(User))
})

export const WrittenComment = Schema.Struct({ ...Comment.fields, created_at: Schema.String })

/** Issue or pull request of which only the state of its conversation is read. */
export const Discussed = Schema.Struct({ is_locked: Schema.optional(Schema.NullOr(Schema.Boolean)) })

/** Pull request of which only the age is read. */
export const OpenedAt = Schema.Struct({ created_at: Schema.String })

/** `created` is the time of its committer. */
export const Commit = Schema.Struct({ sha: Schema.String, created: Text })
export const Branch = Schema.Struct({
  protected: Schema.Boolean,
  commit: Schema.NullOr(Schema.Struct({ id: Schema.String }))
})
/** Branch of which only the tip is read. */
export const Tip = Schema.Struct({ name: Schema.String, commit: Branch.fields.commit })

export const Issue = Schema.Struct({
  number: Schema.Int,
  title: Schema.String,
  state: Schema.Literals(["open", "closed"]),
  body: Text,
  html_url: Text,
  comments: Schema.optional(Schema.NullOr(Schema.Int)),
  user: Schema.optional(Schema.NullOr(User)),
  pull_request: Schema.optional(Schema.NullOr(Schema.Unknown)),
  labels: Schema.optional(Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String }))))
})

export const Label = Schema.Struct({ id: Schema.Int, name: Schema.String })

/** Commit with its author: from git, and the account that the host associates with it. */
export const WrittenCommit = Schema.Struct({
  author: Schema.optional(Schema.NullOr(User)),
  commit: Schema.optional(
    Schema.NullOr(Schema.Struct({ author: Schema.optional(Schema.NullOr(Schema.Struct({ email: Text, name: Text }))) }))
  )
})
/** Commit of a push. */
export const PushedCommit = Schema.Struct({
  sha: Text,
  author: Schema.optional(Schema.NullOr(User)),
  commit: Schema.optional(
    Schema.NullOr(
      Schema.Struct({
        message: Text,
        author: Schema.optional(Schema.NullOr(Schema.Struct({ email: Text, name: Text })))
      })
    )
  )
})
export const ListedStatus = Schema.Struct({
  context: Schema.String,
  status: Schema.String,
  created_at: Schema.String,
  creator: Schema.optional(Schema.NullOr(User))
})
export const Status = Schema.Struct({ id: Schema.Int, url: Text })
export const Permission = Schema.Struct({ permission: Schema.String })
/** Team of an organisation. `permission` is the lowest that its units have, other than none; `units_map` has that of each unit. */
export const Team = Schema.Struct({
  id: Schema.Int,
  permission: Text,
  units_map: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String)))
})

export const toUsername = (user: typeof User.Type | null | undefined): string | undefined =>
  user?.login || user?.username || undefined

/** Returns the author of a text. */
export const toAuthor = (user: typeof User.Type | null | undefined): Author => ({
  id: user?.id,
  username: toUsername(user)
})

export const toPerson = (user: typeof User.Type | null | undefined): Person | undefined => {
  const username = toUsername(user)
  if (username === undefined) return undefined
  return user?.full_name ? { username, name: user.full_name } : { username }
}

/** A person, an organisation or a repository of which only the id is read. */
export const OwnerId = Schema.Struct({ id: Schema.Int })
/** Repository in the list of its owner. */
export const ListedRepository = Schema.Struct({
  id: Schema.Int,
  full_name: Schema.String,
  archived: Schema.optional(Schema.NullOr(Schema.Boolean))
})
