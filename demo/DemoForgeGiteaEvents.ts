/** Gitea's webhook payloads, with the event names that its headers carry. */
import type { DemoEvent } from "./DemoForgeDialect.ts"
import { commentJson, pullJson, repositoryJson, userJson } from "./DemoForgeGiteaJson.ts"
import type { DemoState } from "./DemoForgeState.ts"

export const delivered = (event: DemoEvent, url: string, state: DemoState) => {
  const sender = userJson(event.sender, url)
  switch (event.kind) {
    case "pull": {
      const { pull, action } = event
      const repository = repositoryJson(pull.repository, url, state)
      const payload = {
        action,
        ...(action === "edited" ? { changes: { ref: { from: pull.repository.defaultBranch } } } : {}),
        number: pull.number,
        pull_request: pullJson(pull, url, state),
        requested_reviewer: null,
        repository,
        sender,
        commit_id: "",
        review: null
      }
      const types: Readonly<Record<string, string>> = {
        synchronized: "pull_request_sync",
        label_updated: "pull_request_label"
      }
      return { event: "pull_request", type: types[action] ?? "pull_request", payload }
    }
    case "comment": {
      const { pull, body } = event
      const now = state.now()
      const comment = commentJson(
        { id: event.id ?? state.nextId(), user: event.sender, createdAt: now, updatedAt: now, body },
        pull,
        url
      )
      const web = `${url}/${pull.repository.fullName}/pulls/${pull.number}`
      const issue = {
        id: pull.id,
        url: web,
        html_url: web,
        number: pull.number,
        user: userJson(pull.author, url),
        title: pull.title,
        body: pull.description,
        labels: [],
        state: pull.state,
        pull_request: { merged: pull.merged, merged_at: null, draft: pull.draft, html_url: web }
      }
      const repository = repositoryJson(pull.repository, url, state)
      const payload = { action: "created", issue, comment, repository, sender, is_pull: true }
      return { event: "issue_comment", type: "pull_request_comment", payload }
    }
    case "push": {
      const { repository, branch, before, after } = event
      const payload = {
        ref: `refs/heads/${branch}`,
        before,
        after,
        compare_url: `${url}/${repository.fullName}/compare/${before}...${after}`,
        commits: [],
        total_commits: 1,
        head_commit: null,
        repository: repositoryJson(repository, url, state),
        pusher: sender,
        sender
      }
      return { event: "push", type: "push", payload }
    }
  }
}
