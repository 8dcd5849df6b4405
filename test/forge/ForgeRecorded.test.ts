/** Responses decode where they have what we depend on: recorded ones of real hosts do, empty ones do not. */
import { Schema } from "effect"
import { expect, it } from "vitest"
import * as gitea from "../../src/forge/gitea/Responses.ts"
import * as github from "../../src/forge/github/Responses.ts"
import * as gitlab from "../../src/forge/gitlab/Responses.ts"
import type { Codec } from "../../src/forge/http/Http.ts"
import { hasContracts, readContract } from "../harness/Contracts.ts"

const rows: ReadonlyArray<readonly [file: string, schema: Codec]> = [
  ["gitea/pr.json", gitea.Pull],
  ["gitea/prs.json", Schema.Array(gitea.Pull)],
  ["gitea/reviews.json", Schema.Array(gitea.Review)],
  ["gitea/review.json", gitea.Review],
  ["gitea/comment.json", gitea.Comment],
  ["gitea/comments.json", Schema.Array(gitea.Comment)],
  ["gitea/comments.json", Schema.Array(gitea.WrittenComment)],
  ["gitea/commits.json", Schema.Array(gitea.Commit)],
  ["gitea/commits.json", Schema.Array(gitea.PushedCommit)],
  ["gitea/branches.json", Schema.Array(gitea.Tip)],
  ["gitea/statuses.json", Schema.Array(gitea.ListedStatus)],
  ["gitea/status.json", gitea.Status],
  ["gitea/user.json", gitea.User],
  ["github/pr.json", github.Pull],
  ["github/pulls.json", Schema.Array(github.Pull)],
  ["github/issue_comments.json", Schema.Array(github.Note)],
  ["github/issue_comments.json", Schema.Array(github.WrittenNote)],
  ["github/pr_comments.json", Schema.Array(github.WrittenNote)],
  [
    "github/issue_search_prs.json",
    Schema.Struct({ ...github.FoundPulls.fields, items: Schema.Array(github.FoundPull) })
  ],
  ["github/pulls.json", Schema.Array(github.ChangedPullItem)],
  ["github/compare.json", Schema.Struct({ ...github.Comparison.fields, commits: Schema.Array(github.PushedCommit) })],
  ["github/branches.json", Schema.Array(github.Tip)],
  ["github/statuses.json", Schema.Array(github.ListedStatus)],
  ["github/issue_comment.json", github.Note],
  ["github/pr_comments.json", Schema.Array(github.Note)],
  ["github/reviews_list.json", Schema.Array(github.Note)],
  ["github/reviews_find.json", github.Note],
  ["github/commit.json", github.Commit],
  ["github/status.json", github.Status],
  ["github/user.json", github.User],
  ["github/user_perm.json", github.Permission],
  ["github/app_repo_install.json", github.Installation],
  ["gitlab/merge.json", gitlab.MergeRequest],
  ["gitlab/merges.json", Schema.Array(gitlab.MergeRequest)],
  ["gitlab/go-gitlab.get_merge_request.json", gitlab.MergeRequest],
  ["gitlab/merge_note.json", gitlab.Note],
  ["gitlab/merge_notes.json", Schema.Array(gitlab.Note)],
  ["gitlab/merge_discussion.json", gitlab.Discussion],
  ["gitlab/go-gitlab.list_draft_notes.json", Schema.Array(gitlab.DraftNote)],
  ["gitlab/go-gitlab.create_draft_note.json", gitlab.DraftNote],
  ["gitlab/merge_notes.json", Schema.Array(gitlab.WrittenNote)],
  ["gitlab/compare.json", Schema.Struct({ ...gitlab.Comparison.fields, commits: Schema.Array(gitlab.PushedCommit) })],
  ["gitlab/branches.json", Schema.Array(gitlab.Tip)],
  ["gitlab/statuses.json", Schema.Array(gitlab.ListedStatus)],
  ["gitlab/commit.json", gitlab.Commit],
  ["gitlab/status.json", gitlab.Status],
  ["gitlab/project_member_perm.json", gitlab.Member],
  ["gitlab/user.json", gitlab.User]
]

it.each(rows)("a response of another kind than %s is refused", (_, schema) => {
  for (const response of ["text", 7, null]) expect(() => Schema.decodeUnknownSync(schema)(response)).toThrow("Expected")
})

it.each(hasContracts ? rows : [])("%s decodes", (file, schema) => {
  expect(() => Schema.decodeUnknownSync(schema)(readContract(`responses/${file}`))).not.toThrow()
})
