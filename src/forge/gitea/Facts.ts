/**
 * Facts about Gitea and Forgejo that their API descriptions do not contain, with the versions for which they were observed (Forgejo 10 in
 * development, with the API of Gitea 1.22, unless stated otherwise). The client, `aicr doctor` and docs/publishing.md follow them.
 *
 * | Fact | Where it matters |
 * | --- | --- |
 * | Only administrators of a repository dismiss reviews and delete issues; others get 403 | gitea/Permissions.ts, outputs/IssueChannel.ts |
 * | Only administrators read the permissions of others; the list of assignees has readers, too | gitea/WritesCode.ts |
 * | A review is written comment by comment into the pending review of the account, which is then submitted | gitea/Reviews.ts |
 * | A reply belongs to the review of the comment that it replies to | gitea/Threads.ts |
 * | A delivery about a comment does not say whether it is at a line; a read of such a comment has status 204 and no text | gitea/Conversations.ts |
 * | Only Forgejo adds a comment to a published review; at Gitea it becomes a review of its own at the same line | gitea/Conversations.ts |
 * | A comment that is part of a person's review has no delivery of its own | gitea/Webhook.ts |
 * | The title prefixes of drafts are a setting of the server; the flag `draft` follows them | gitea/Webhook.ts |
 * | Webhooks are listed in pages of 30 | gitea/Webhooks.ts |
 * | Comments of an issue are listed without pages, by `since` and `before` of their last edit (both inclusive) | gitea/NewestComment.ts |
 * | Issues of an owner are listed by their creation; `since` and the total in the headers count by their update, to the second | gitea/ChangedPulls.ts |
 * | A search for an owner that does not exist is refused with 400 | gitea/ChangedPulls.ts |
 * | A list of commits without those of another one exists since 1.20, a comparison since 1.22, always with statistics | gitea/Changes.ts |
 * | Labels of an organisation count in its repositories; a token needs a scope of its own to read them | gitea/Labels.ts |
 * | Forgejo and versions of Gitea before 1.24 ignore `until` in a list of commits | gitea/Pulls.ts |
 * | A status `warning` does not pass a required status | gitea/Comments.ts |
 * | 500 is also the response to a write that can never succeed, and its message is for administrators only; it may come after the write was stored | actors/publishing/PublishDecision.ts |
 * | Only an approval or a request for changes ends a request for a review, a review with comments does not | docs/publishing.md |
 * | A list by the name of an account that no longer exists is refused with 404 | OwnAccount.ts |
 */

/** First version of Forgejo whose API description has comments on several lines. Earlier ones ignore their number of lines. */
export const firstForgejoWithRanges = 16

/** Number of items of a page. */
export const pages = { name: "limit", value: 50 } as const

/** Maximum number of requests that read the comments of one pull request, when they do not fit in one response. */
export const maxCommentReads = 60

/** Last page of commits that is read in search of one that is old enough. */
export const maxCommitPage = 2 ** 16

/** Meanings of refusals, by what was requested. */
export const refusals = {
  /** The owner is a person, or the token lacks the scope for labels of organisations. */
  labelsHidden: ["not_found", "forbidden"],
  /** The host has no such person or organisation. */
  ownerUnknown: ["not_found", "invalid"],
  /** The issue or the label is gone. */
  labelGone: ["not_found", "invalid"],
  /** The line is not part of the difference any more, or the version has no such operation. */
  lineRefused: ["not_found", "invalid"],
  /** The account may not read this about another one, or there is nothing. */
  notShown: ["forbidden", "not_found", "invalid"]
} as const

/** Status of the teams of a repository that belongs to a person. */
export const notOfOrganisation = 405
