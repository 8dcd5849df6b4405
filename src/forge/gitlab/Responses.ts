/** Schemas of the parts of GitLab's responses that are read. */
import { Schema } from "effect"
import type { Person } from "../../domain/Change.ts"

const Text = Schema.optional(Schema.NullOr(Schema.String))

export const User = Schema.Struct({ id: Schema.optional(Schema.Int), username: Schema.String, name: Text })

const Line = Schema.optional(Schema.NullOr(Schema.Int))

const Role = Schema.optional(Schema.NullOr(Schema.Struct({ access_level: Schema.Int })))

/** Role of the account in a project; both are null for administrators who are not members. */
export const Project = Schema.Struct({
  path_with_namespace: Text,
  visibility: Text,
  permissions: Schema.optional(Schema.NullOr(Schema.Struct({ project_access: Role, group_access: Role })))
})

export const ProjectNamespace = Schema.Struct({
  namespace: Schema.Struct({ kind: Schema.String, full_path: Schema.String })
})

export const Token = Schema.Struct({ scopes: Schema.Array(Schema.String) })

/** The three commits to which a position is relative. */
export const DiffRefs = Schema.Struct({ base_sha: Schema.String, start_sha: Schema.String, head_sha: Schema.String })
export type DiffRefs = typeof DiffRefs.Type

export const MergeRequest = Schema.Struct({
  iid: Schema.Int,
  /** Target project. */
  project_id: Schema.optional(Schema.Int),
  /** Absent where the source project was deleted. */
  source_project_id: Schema.optional(Schema.NullOr(Schema.Int)),
  state: Schema.Literals(["opened", "closed", "locked", "merged"]),
  draft: Schema.optional(Schema.NullOr(Schema.Boolean)),
  work_in_progress: Schema.optional(Schema.NullOr(Schema.Boolean)),
  title: Schema.String,
  description: Text,
  web_url: Schema.String,
  sha: Schema.NullOr(Schema.String),
  /** Both are null for a fast-forward. */
  merge_commit_sha: Text,
  squash_commit_sha: Text,
  merge_user: Schema.optional(Schema.NullOr(User)),
  /** Replaced by `merge_user` since GitLab 14.7. */
  merged_by: Schema.optional(Schema.NullOr(User)),
  source_branch: Schema.String,
  target_branch: Schema.String,
  author: Schema.optional(Schema.NullOr(User)),
  labels: Schema.optional(Schema.Array(Schema.String)),
  user_notes_count: Schema.optional(Schema.NullOr(Schema.Int)),
  diff_refs: Schema.optional(Schema.NullOr(DiffRefs))
})

/** Merge request in a list. */
export const ListedMergeRequest = Schema.Struct({
  iid: Schema.Int,
  state: Schema.String,
  sha: Schema.optional(Schema.NullOr(Schema.String))
})

/** Merge request in a list by the time of the update. */
export const ChangedMergeRequest = Schema.Struct({
  iid: Schema.Int,
  project_id: Schema.Int,
  updated_at: Schema.String,
  references: Schema.Struct({ full: Schema.String })
})

/** One push to the merge request. */
export const Version = Schema.Struct({
  head_commit_sha: Schema.String,
  base_commit_sha: Schema.String,
  start_commit_sha: Schema.String
})

/** `DiffNote`: at a line. */
export const Note = Schema.Struct({ id: Schema.Int, body: Schema.String, author: User, type: Text })
export const WrittenNote = Schema.Struct({
  ...Note.fields,
  created_at: Schema.String,
  system: Schema.optional(Schema.NullOr(Schema.Boolean))
})
/** Discussion; one at a line of the diff has a position and can be resolved. */
export const Thread = Schema.Struct({
  id: Schema.String,
  notes: Schema.Array(
    Schema.Struct({
      id: Schema.optional(Schema.Int),
      body: Schema.String,
      author: User,
      system: Schema.optional(Schema.NullOr(Schema.Boolean)),
      resolved: Schema.optional(Schema.NullOr(Schema.Boolean)),
      resolved_by: Schema.optional(Schema.NullOr(User)),
      position: Schema.optional(
        Schema.NullOr(Schema.Struct({ new_path: Text, old_path: Text, new_line: Line, old_line: Line }))
      )
    })
  )
})
export const Discussion = Schema.Struct({ id: Schema.String, notes: Schema.Array(Note) })

const Flag = Schema.optional(Schema.NullOr(Schema.Boolean))
/** Note of a discussion on a merge request, an issue or a commit. Only members of the project see an internal one. */
export const DiscussionNote = Schema.Struct({
  ...WrittenNote.fields,
  resolved: Flag,
  internal: Flag,
  confidential: Flag,
  position: Schema.optional(
    Schema.NullOr(Schema.Struct({ new_path: Text, old_path: Text, new_line: Line, old_line: Line }))
  )
})
/** `individual_note`: a comment without replies that cannot be resolved. */
export const FullDiscussion = Schema.Struct({
  id: Schema.String,
  individual_note: Flag,
  notes: Schema.Array(DiscussionNote)
})
/** Merge request or issue of which only the state of its conversation is read. */
export const Discussed = Schema.Struct({ discussion_locked: Flag })
export const DraftNote = Schema.Struct({ id: Schema.Int, note: Schema.String })
export const Commit = Schema.Struct({ id: Schema.String })
export const Branch = Schema.Struct({
  protected: Schema.Boolean,
  default: Schema.optional(Schema.Boolean),
  commit: Commit
})
/** Branch of which only the tip is read. */
export const Tip = Schema.Struct({ name: Schema.String, commit: Commit })
/** Commits that one commit has and another one has not. */
export const Comparison = Schema.Struct({ commits: Schema.Array(Schema.Unknown) })
export const PushedCommit = Schema.Struct({ id: Text, author_name: Text, author_email: Text, message: Text })
export const ListedStatus = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  status: Schema.String,
  created_at: Schema.String,
  author: Schema.optional(Schema.NullOr(User))
})
export const WrittenCommit = Schema.Struct({ author_email: Text, author_name: Text })
export const Account = Schema.Struct({ id: Schema.Int, username: Schema.String })

export const Issue = Schema.Struct({
  iid: Schema.Int,
  title: Schema.String,
  state: Schema.String,
  description: Text,
  web_url: Text,
  user_notes_count: Schema.optional(Schema.NullOr(Schema.Int)),
  labels: Schema.optional(Schema.Array(Schema.String)),
  confidential: Schema.optional(Schema.NullOr(Schema.Boolean))
})

/** Comments on commits have no id. */
export const CommitNote = Schema.Struct({
  note: Schema.String,
  author: Schema.optional(Schema.NullOr(User))
})
export const Status = Schema.Struct({ id: Schema.Int, target_url: Text })
export const Member = Schema.Struct({ username: Schema.String, access_level: Schema.Int })

export const toPerson = (user: typeof User.Type): Person =>
  user.name ? { username: user.username, name: user.name } : { username: user.username }

/** Project in the list of a group or a person. */
export const ListedProject = Schema.Struct({
  id: Schema.Int,
  path_with_namespace: Schema.String,
  archived: Schema.optional(Schema.NullOr(Schema.Boolean))
})
