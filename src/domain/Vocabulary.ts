/**
 * Defines every name of a product, with the other accepted spellings: neutral tokens and common aliases. Decoding at the edges
 * (configuration, URL paths, header names) converts any of them to the canonical name with `canonical`; nothing behind the edges uses
 * another spelling.
 *
 * A row reads `canonical: [other spellings]`. The first other spelling is the neutral token, if there is one.
 */

const vocabulary = {
  triggerKind: {
    gitea: ["githost_a"],
    forgejo: ["githost_b"],
    github: ["githost_c"],
    gitlab: ["githost_d"],
    perforce: ["depot_vcs", "p4"],
    subversion: ["tree_vcs", "svn"],
    scheduled: [],
    manual: []
  },
  repositoryKind: {
    git: [],
    perforce: ["depot_vcs", "p4"],
    subversion: ["tree_vcs", "svn"]
  },
  agentMode: {
    kilo: ["agent_a"],
    opencode: ["agent_b"],
    zoo: ["agent_c"],
    "copilot-cli": ["agent_d"],
    "claude-code": ["agent_e"],
    pi: ["agent_f"],
    omp: ["agent_g", "oh-my-pi"],
    "native-llm": [],
    codex: [],
    "gemini-cli": []
  },
  sandboxKind: {
    native: [],
    docker: ["container_a"],
    podman: ["container_b"],
    docker_socket: ["container_a_socket"],
    kubernetes: ["cluster_pod", "k8s_pod"],
    microvm: ["firecracker"]
  },
  sandboxEngine: {
    auto: [],
    docker: ["container_a"],
    podman: ["container_b"]
  },
  providerKind: {
    openai_compatible: ["llm_kind_1", "openai"],
    azure_openai: ["llm_kind_2"],
    anthropic: ["llm_kind_3"],
    vertex_ai: ["llm_kind_4"],
    bedrock: ["llm_kind_5"],
    google_ai_studio: ["llm_kind_6", "gemini"],
    ollama: ["llm_kind_7"],
    copilot: ["llm_kind_8"]
  },
  queueKind: {
    memory: [],
    sqlite: ["embedded_sql"],
    redis: ["kv_store"],
    nats: ["broker"]
  },
  databaseKind: {
    sqlite: ["embedded_sql"],
    postgres: ["server_sql"]
  },
  cacheKind: {
    memory: [],
    redis: ["kv_store"],
    none: []
  },
  catalogCache: {
    sqlite: ["embedded_sql"],
    redis: ["kv_store"],
    memory: []
  },
  sourceBackend: {
    storage: [],
    redis: ["kv_store"]
  },
  objectKind: {
    filesystem: [],
    s3: ["object_api"]
  },
  templateEngine: {
    handlebars: ["engine_a"],
    eta: ["engine_b"]
  },
  channelKind: {
    gitea_pr_review: ["githost_a_pr_review", "forgejo_pr_review"],
    github_pr_review: ["githost_c_pr_review"],
    gitlab_mr_review: ["githost_d_mr_review"],
    gitea_issue: ["githost_a_issue", "forgejo_issue"],
    github_issue: ["githost_c_issue"],
    gitea_problem_issue: ["githost_a_problem_issue", "forgejo_problem_issue"],
    github_problem_issue: ["githost_c_problem_issue"],
    gitlab_problem_issue: ["githost_d_problem_issue"],
    feishu_bot: ["im_bot_a"],
    feishu_app: ["im_app_a"],
    wecom_bot: ["im_bot_b"],
    wecom_app: ["im_app_b"],
    slack_webhook: [],
    slack_app: [],
    teams_webhook: [],
    webhook: [],
    email: [],
    p4_swarm: []
  },
  connectionKind: {
    feishu_app: ["im_app_a"],
    wecom_app: ["im_app_b"],
    wecom_aibot: ["im_aibot_b"],
    slack_app: []
  },
  principalType: {
    wecom_userid: ["im_b_userid"],
    wecom_encrypted_userid: ["im_b_encrypted_userid"],
    feishu_open_id: ["im_a_open_id"],
    slack_user: []
  },
  scopeKind: {
    any: [],
    wecom_department: ["im_b_department"],
    wecom_tag: ["im_b_tag"],
    wecom_position: ["im_b_position"],
    wecom_extattr: ["im_b_extattr"],
    feishu_chat: ["im_a_chat"],
    feishu_department: ["im_a_department"],
    feishu_job_title: ["im_a_job_title"],
    slack_channel: [],
    slack_usergroup: []
  },
  identityScope: {
    wecom_corp: ["im_b_corp"],
    feishu_app: ["im_a_app"],
    feishu_tenant: ["im_a_tenant"]
  },
  directorySource: {
    feishu_api: ["im_a_api"],
    file: []
  },
  targetKind: {
    pull_request: ["pr"],
    push: [],
    commit: [],
    issue: [],
    manual: [],
    scheduled: []
  },
  weekday: {
    mon: ["monday"],
    tue: ["tuesday"],
    wed: ["wednesday"],
    thu: ["thursday"],
    fri: ["friday"],
    sat: ["saturday"],
    sun: ["sunday"]
  },
  webhookPath: {
    gitea: ["githost_a"],
    forgejo: ["githost_b"],
    github: ["githost_c"],
    gitlab: ["githost_d"]
  },
  triggerPath: {
    p4: ["depot_vcs", "perforce"],
    svn: ["tree_vcs", "subversion"],
    manual: [],
    custom: []
  }
} as const satisfies Record<string, Record<string, ReadonlyArray<string>>>

export type Concept = keyof typeof vocabulary
export type Name<C extends Concept> = Extract<keyof (typeof vocabulary)[C], string>

const isConcept = (name: string): name is Concept => Object.hasOwn(vocabulary, name)

export const concepts: ReadonlyArray<Concept> = Object.keys(vocabulary).filter(isConcept)

/** Configuration keys that are a product's name. Every decoded document uses the canonical key. */
export const keyAliases: Readonly<Record<string, string>> = {
  embedded_sql: "sqlite",
  server_sql: "postgres",
  kv_store: "redis",
  object_api: "s3",
  notify_im_a: "notify_feishu"
}

/** Neutral header names that are accepted in addition to those of the host. */
export const signatureHeaders = {
  gitea: "x-githost-a-signature-256",
  forgejo: "x-githost-a-signature-256",
  github: "x-githost-c-signature-256",
  gitlab: "x-githost-d-token"
} as const satisfies Record<Name<"webhookPath">, string>

const index = new Map<string, ReadonlyMap<string, string>>(
  Object.entries(vocabulary).map(([concept, rows]) => [
    concept,
    new Map(
      Object.entries(rows).flatMap(([name, others]: [string, ReadonlyArray<string>]) => [
        [name, name] as const,
        ...others.map((other) => [other, name] as const)
      ])
    )
  ])
)

const isName = <C extends Concept>(concept: C, name: string): name is Name<C> =>
  Object.hasOwn(vocabulary[concept], name)

/** Returns the canonical name of an accepted spelling, or undefined for an unknown one. Case-sensitive. */
export const canonical = <C extends Concept>(concept: C, spelling: string): Name<C> | undefined => {
  const name = index.get(concept)?.get(spelling)
  return name !== undefined && isName(concept, name) ? name : undefined
}

/** Returns the canonical names of a concept, in the order of the table. */
export const listNames = <C extends Concept>(concept: C): ReadonlyArray<Name<C>> =>
  Object.keys(vocabulary[concept]).filter((name) => isName(concept, name))

/** Returns the other spellings accepted for a canonical name. */
export const listSpellings = (concept: Concept, name: string): ReadonlyArray<string> => {
  const rows: Readonly<Record<string, ReadonlyArray<string>>> = vocabulary[concept]
  return rows[name] ?? []
}
