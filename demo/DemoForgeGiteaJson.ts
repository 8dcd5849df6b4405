/** Builds the JSON of Gitea's responses and deliveries, after its published API description and recorded deliveries. Pure. */
import { countLineComments, updatedAt } from "./DemoForgeState.ts"
import type {
  DemoComment,
  DemoPull,
  DemoRepository,
  DemoReview,
  DemoState,
  DemoStatus,
  DemoUser
} from "./DemoForgeState.ts"

export const userJson = (user: DemoUser, url: string) => ({
  id: user.id,
  login: user.login,
  login_name: "",
  source_id: 0,
  full_name: user.name,
  email: `${user.login}@noreply.example.org`,
  avatar_url: `${url}/avatars/${user.login}`,
  html_url: `${url}/${user.login}`,
  language: "",
  is_admin: false,
  last_login: "0001-01-01T00:00:00Z",
  created: "2024-01-01T00:00:00Z",
  restricted: false,
  active: true,
  prohibit_login: false,
  location: "",
  website: "",
  description: "",
  visibility: "public",
  followers_count: 0,
  following_count: 0,
  starred_repos_count: 0,
  username: user.login
})

export const repositoryJson = (repository: DemoRepository, url: string, state: DemoState) => ({
  id: repository.id,
  owner: userJson(state.user(repository.owner), url),
  name: repository.name,
  full_name: repository.fullName,
  description: "",
  empty: false,
  private: false,
  fork: false,
  template: false,
  mirror: false,
  size: 64,
  html_url: `${url}/${repository.fullName}`,
  url: `${url}/api/v1/repos/${repository.fullName}`,
  link: "",
  ssh_url: "",
  clone_url: `${url}/${repository.fullName}.git`,
  website: "",
  default_branch: repository.defaultBranch,
  archived: false,
  permissions: { admin: true, push: true, pull: true },
  object_format_name: "sha1"
})

const branchJson = (repository: DemoRepository, branch: string, sha: string, url: string, state: DemoState) => ({
  label: branch,
  ref: branch,
  sha,
  repo_id: repository.id,
  repo: repositoryJson(repository, url, state)
})

const headJson = (pull: DemoPull, url: string, state: DemoState) => {
  const own = branchJson(pull.repository, pull.headBranch, pull.head, url, state)
  const { headRepository: fork } = pull
  return fork === undefined
    ? own
    : { ...own, repo: fork === null ? null : { ...own.repo, id: fork.id, full_name: fork.fullName, fork: true } }
}

export const pullJson = (pull: DemoPull, url: string, state: DemoState) => {
  const web = `${url}/${pull.repository.fullName}/pulls/${pull.number}`
  return {
    id: pull.id,
    url: web,
    number: pull.number,
    user: userJson(pull.author, url),
    title: pull.title,
    body: pull.description,
    labels: pull.labels.map((label) => ({
      id: label.id,
      name: label.name,
      exclusive: false,
      is_archived: false,
      color: "0e8a16",
      description: "",
      url: `${url}/api/v1/repos/${pull.repository.fullName}/labels/${label.id}`
    })),
    milestone: null,
    assignee: null,
    assignees: null,
    requested_reviewers: [],
    state: pull.state,
    draft: pull.draft,
    is_locked: false,
    comments: pull.comments.length,
    // The server omits 0, too.
    review_comments: countLineComments(pull) || undefined,
    html_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    mergeable: pull.state === "open",
    merged: pull.merged,
    merged_at: null,
    merge_commit_sha: pull.mergeCommit ?? null,
    merged_by: pull.mergedBy === undefined ? null : userJson(pull.mergedBy, url),
    base: branchJson(pull.repository, pull.baseBranch, pull.base, url, state),
    head: headJson(pull, url, state),
    merge_base: pull.base,
    due_date: null,
    created_at: pull.createdAt,
    updated_at: updatedAt(pull),
    closed_at: null,
    pin_order: 0
  }
}

export const commentJson = (comment: DemoComment, pull: DemoPull, url: string) => {
  const web = `${url}/${pull.repository.fullName}/pulls/${pull.number}`
  return {
    id: comment.id,
    html_url: `${web}#issuecomment-${comment.id}`,
    pull_request_url: web,
    issue_url: "",
    user: userJson(comment.user, url),
    original_author: "",
    original_author_id: 0,
    body: comment.body,
    assets: [],
    created_at: comment.createdAt,
    updated_at: comment.updatedAt
  }
}

export const reviewJson = (review: DemoReview, pull: DemoPull, url: string) => {
  const web = `${url}/${pull.repository.fullName}/pulls/${pull.number}`
  return {
    id: review.id,
    user: userJson(review.user, url),
    team: null,
    state: review.state,
    body: review.body,
    commit_id: review.commit,
    stale: review.commit !== pull.head,
    official: false,
    dismissed: false,
    comments_count: review.comments.length,
    submitted_at: review.createdAt,
    updated_at: review.createdAt,
    html_url: `${web}#issuecomment-${review.id}`,
    pull_request_url: web
  }
}

export const reviewCommentsJson = (review: DemoReview, pull: DemoPull, url: string) =>
  review.comments.map((comment) => ({
    id: comment.id,
    body: comment.body,
    user: userJson(comment.reply?.user ?? review.user, url),
    resolver: comment.resolver === undefined ? null : userJson(comment.resolver, url),
    pull_request_review_id: review.id,
    created_at: comment.reply?.createdAt ?? review.createdAt,
    updated_at: comment.reply?.createdAt ?? review.createdAt,
    path: comment.path,
    commit_id: review.commit,
    original_commit_id: review.commit,
    diff_hunk: comment.hunk,
    position: comment.side === "new" ? comment.line : 0,
    original_position: comment.side === "old" ? comment.line : 0,
    html_url: `${url}/${pull.repository.fullName}/pulls/${pull.number}#issuecomment-${comment.id}`,
    pull_request_url: `${url}/${pull.repository.fullName}/pulls/${pull.number}`
  }))

export const statusJson = (status: DemoStatus, repository: DemoRepository, sha: string, url: string) => ({
  id: status.id,
  status: status.state,
  target_url: status.targetUrl,
  description: status.description,
  url: `${url}/api/v1/repos/${repository.fullName}/statuses/${sha}`,
  context: status.context,
  creator: userJson(status.user, url),
  created_at: status.createdAt,
  updated_at: status.createdAt
})

/** Pull request in a list of issues. */
export const issueJson = (pull: DemoPull, url: string) => {
  const { repository } = pull
  const web = `${url}/${repository.fullName}/pulls/${pull.number}`
  return {
    id: pull.id,
    url: web,
    html_url: web,
    number: pull.number,
    user: userJson(pull.author, url),
    title: pull.title,
    body: pull.description,
    labels: pull.labels.map(({ id, name }) => ({ id, name })),
    state: pull.state,
    comments: pull.comments.length,
    created_at: pull.createdAt,
    updated_at: updatedAt(pull),
    pull_request: { merged: pull.merged, merged_at: null, draft: pull.draft, html_url: web },
    repository: { id: repository.id, name: repository.name, owner: repository.owner, full_name: repository.fullName }
  }
}
