/** Values to enter at each host: names of its own pages and events, which are not translated. */
export interface HostSetup {
  readonly name: string
  readonly path: string
  readonly place: string
  readonly contentType: string
  readonly events: string
  readonly scopes: string
}

export const hosts: ReadonlyArray<HostSetup> = [
  {
    name: "Gitea, Forgejo",
    path: "/webhooks/gitea",
    place: "Repository → Settings → Webhooks → Add webhook → Gitea",
    contentType: "application/json",
    events: "Push, Pull request, Pull request comment, Issue comment, Issues",
    scopes: "write:repository, write:issue, read:user"
  },
  {
    name: "GitHub",
    path: "/webhooks/github",
    place: "Repository → Settings → Webhooks → Add webhook",
    contentType: "application/json",
    events: "Pushes, Pull requests, Pull request review comments, Issue comments",
    scopes: "Contents: read, Pull requests: write, Issues: write, Commit statuses: write, Actions: read"
  },
  {
    name: "GitLab",
    path: "/webhooks/gitlab",
    place: "Project → Settings → Webhooks → Add new webhook",
    contentType: "application/json",
    events: "Push events, Merge request events, Comments",
    scopes: "api"
  }
]
