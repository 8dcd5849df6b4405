/** The table of names: each spelling leads to one name, no spelling to two. */
import { describe, expect, it } from "vitest"
import {
  canonical,
  concepts,
  keyAliases,
  listNames,
  signatureHeaders,
  listSpellings
} from "../../src/domain/Vocabulary.ts"
import type { Concept } from "../../src/domain/Vocabulary.ts"

const pairs: ReadonlyArray<readonly [Concept, string, string]> = [
  ["triggerKind", "githost_a", "gitea"],
  ["triggerKind", "githost_b", "forgejo"],
  ["triggerKind", "githost_c", "github"],
  ["triggerKind", "githost_d", "gitlab"],
  ["triggerKind", "depot_vcs", "perforce"],
  ["triggerKind", "p4", "perforce"],
  ["triggerKind", "tree_vcs", "subversion"],
  ["triggerKind", "svn", "subversion"],
  ["repositoryKind", "depot_vcs", "perforce"],
  ["repositoryKind", "svn", "subversion"],
  ["agentMode", "agent_a", "kilo"],
  ["agentMode", "agent_b", "opencode"],
  ["agentMode", "agent_c", "zoo"],
  ["agentMode", "agent_d", "copilot-cli"],
  ["agentMode", "agent_e", "claude-code"],
  ["agentMode", "agent_f", "pi"],
  ["agentMode", "agent_g", "omp"],
  ["agentMode", "oh-my-pi", "omp"],
  ["agentMode", "codex", "codex"],
  ["agentMode", "gemini-cli", "gemini-cli"],
  ["sandboxKind", "container_a", "docker"],
  ["sandboxKind", "container_b", "podman"],
  ["sandboxKind", "container_a_socket", "docker_socket"],
  ["sandboxKind", "cluster_pod", "kubernetes"],
  ["sandboxKind", "k8s_pod", "kubernetes"],
  ["sandboxKind", "firecracker", "microvm"],
  ["sandboxEngine", "container_b", "podman"],
  ["providerKind", "llm_kind_1", "openai_compatible"],
  ["providerKind", "openai", "openai_compatible"],
  ["providerKind", "llm_kind_2", "azure_openai"],
  ["providerKind", "llm_kind_3", "anthropic"],
  ["providerKind", "llm_kind_4", "vertex_ai"],
  ["providerKind", "llm_kind_5", "bedrock"],
  ["providerKind", "llm_kind_6", "google_ai_studio"],
  ["providerKind", "gemini", "google_ai_studio"],
  ["providerKind", "llm_kind_7", "ollama"],
  ["providerKind", "llm_kind_8", "copilot"],
  ["queueKind", "embedded_sql", "sqlite"],
  ["queueKind", "kv_store", "redis"],
  ["queueKind", "broker", "nats"],
  ["databaseKind", "server_sql", "postgres"],
  ["cacheKind", "kv_store", "redis"],
  ["objectKind", "object_api", "s3"],
  ["templateEngine", "engine_a", "handlebars"],
  ["templateEngine", "engine_b", "eta"],
  ["channelKind", "githost_a_pr_review", "gitea_pr_review"],
  ["channelKind", "forgejo_pr_review", "gitea_pr_review"],
  ["channelKind", "githost_c_pr_review", "github_pr_review"],
  ["channelKind", "githost_d_mr_review", "gitlab_mr_review"],
  ["channelKind", "githost_a_issue", "gitea_issue"],
  ["channelKind", "githost_c_issue", "github_issue"],
  ["channelKind", "githost_a_problem_issue", "gitea_problem_issue"],
  ["channelKind", "forgejo_problem_issue", "gitea_problem_issue"],
  ["channelKind", "githost_c_problem_issue", "github_problem_issue"],
  ["channelKind", "githost_d_problem_issue", "gitlab_problem_issue"],
  ["channelKind", "im_bot_a", "feishu_bot"],
  ["channelKind", "im_app_a", "feishu_app"],
  ["channelKind", "im_bot_b", "wecom_bot"],
  ["channelKind", "im_app_b", "wecom_app"],
  ["connectionKind", "im_aibot_b", "wecom_aibot"],
  ["principalType", "im_b_userid", "wecom_userid"],
  ["principalType", "im_b_encrypted_userid", "wecom_encrypted_userid"],
  ["principalType", "im_a_open_id", "feishu_open_id"],
  ["scopeKind", "im_b_department", "wecom_department"],
  ["scopeKind", "im_b_extattr", "wecom_extattr"],
  ["scopeKind", "im_a_job_title", "feishu_job_title"],
  ["identityScope", "im_b_corp", "wecom_corp"],
  ["identityScope", "im_a_app", "feishu_app"],
  ["identityScope", "im_a_tenant", "feishu_tenant"],
  ["directorySource", "im_a_api", "feishu_api"],
  ["targetKind", "pr", "pull_request"],
  ["webhookPath", "githost_c", "github"],
  ["triggerPath", "depot_vcs", "p4"],
  ["triggerPath", "perforce", "p4"],
  ["triggerPath", "subversion", "svn"]
]

describe("spellings", () => {
  it.each(pairs)("%s: %s is %s", (concept, spelling, name) => {
    expect(canonical(concept, spelling)).toBe(name)
  })

  it.each(concepts)("%s: a spelling leads to one name, a name to itself", (concept) => {
    const all = listNames(concept).flatMap((name) => [name, ...listSpellings(concept, name)])
    expect(new Set(all).size).toBe(all.length)
    for (const name of listNames(concept)) expect(canonical(concept, name)).toBe(name)
  })

  it.each(["", "Gitea", "githost_e", "constructor", "__proto__", "toString"])("%j is no trigger kind", (word) => {
    expect(canonical("triggerKind", word)).toBeUndefined()
  })
})

it("keys and headers of the specification", () => {
  expect(keyAliases).toEqual({
    embedded_sql: "sqlite",
    server_sql: "postgres",
    kv_store: "redis",
    object_api: "s3",
    notify_im_a: "notify_feishu"
  })
  expect(signatureHeaders.forgejo).toBe("x-githost-a-signature-256")
  expect(signatureHeaders.gitlab).toBe("x-githost-d-token")
})
