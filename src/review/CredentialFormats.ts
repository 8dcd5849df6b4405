/**
 * Formats of credentials with a characteristic prefix, by the documents of their issuers. `shape` finds what may be one, so that it reaches no
 * model and no record. `exact` is the format itself: text that has it is a credential, unless it is a stand-in. Formats without it are only
 * removed: they are short-lived, for tests, or meant to be public. Pure.
 */
interface CredentialFormat {
  /** Name of the kind, the same in every language. */
  readonly kind: string
  readonly shape: RegExp
  readonly exact?: RegExp
}

const exactly = (kind: string, exact: RegExp): CredentialFormat => ({ kind, shape: exact, exact })

export const credentialFormats: ReadonlyArray<CredentialFormat> = [
  {
    kind: "GitHub token",
    shape: /\bgh[pousr]_[A-Za-z0-9]{20,255}\b/g,
    exact: /\bgh[pousr]_[A-Za-z0-9]{36,255}(?![A-Za-z0-9_])/g
  },
  {
    kind: "GitHub token",
    shape: /\bgithub_pat_[A-Za-z0-9_]{22,255}\b/g,
    exact: /\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?![A-Za-z0-9_])/g
  },
  {
    kind: "GitLab token",
    shape: /\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|imt)-[A-Za-z0-9_.-]{20,}/g,
    exact: /\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|imt)-[A-Za-z0-9_.-]{20,}(?![A-Za-z0-9_])/g
  },
  exactly("Anthropic key", /\bsk-ant-[a-z]{3,8}\d{2}-[A-Za-z0-9_-]{80,}(?![A-Za-z0-9_])/g),
  exactly("OpenRouter key", /\bsk-or-v1-[a-f0-9]{64}(?![A-Za-z0-9_])/g),
  // The middle of each key is `OpenAI` in base64.
  exactly("OpenAI key", /\bsk-(?:[a-z]{4,10}-)?[A-Za-z0-9_-]{20,100}T3BlbkFJ[A-Za-z0-9_-]{20,100}(?![A-Za-z0-9_])/g),
  { kind: "API key", shape: /\b(?:sk|rk)-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}/g },
  {
    kind: "Stripe key",
    shape: /\b[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}\b/g,
    exact: /\b[rs]k_live_[A-Za-z0-9]{24,}(?![A-Za-z0-9_])/g
  },
  {
    kind: "AWS access key",
    shape: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g,
    exact: /\bAKIA[A-Z2-7]{16}(?![A-Za-z0-9_])/g
  },
  // Pages that use services of Google contain such keys on purpose.
  { kind: "Google API key", shape: /\bAIza[A-Za-z0-9_-]{35}/g },
  { kind: "Google access token", shape: /\bya29\.[A-Za-z0-9_-]{20,}/g },
  exactly("Google client secret", /\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_])/g),
  {
    kind: "Slack token",
    shape: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
    exact: /\bxox[abeoprs]-\d{9,14}-\d{9,14}(?:-\d{9,14})?-[A-Za-z0-9]{20,}(?![A-Za-z0-9_])/g
  },
  exactly("Slack token", /\bxapp-\d-[A-Z0-9]{9,13}-\d{9,14}-[a-f0-9]{64}(?![A-Za-z0-9_])/g),
  {
    kind: "Slack webhook",
    shape: /\bhttps:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}/g,
    exact: /\bhttps:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{8,12}\/B[A-Z0-9]{8,12}\/[A-Za-z0-9]{24}(?![A-Za-z0-9_])/g
  },
  exactly(
    "Discord webhook",
    /\bhttps:\/\/discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[A-Za-z0-9_-]{60,}(?![A-Za-z0-9_])/g
  ),
  { kind: "npm token", shape: /\bnpm_[A-Za-z0-9]{36}\b/g, exact: /\bnpm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])/g },
  {
    kind: "PyPI token",
    shape: /\bpypi-[A-Za-z0-9_-]{50,}/g,
    exact: /\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}(?![A-Za-z0-9_])/g
  },
  {
    kind: "SendGrid key",
    shape: /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
    exact: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_])/g
  },
  { kind: "Hugging Face token", shape: /\bhf_[A-Za-z0-9]{30,}\b/g, exact: /\bhf_[A-Za-z0-9]{34,}(?![A-Za-z0-9_])/g },
  { kind: "DigitalOcean token", shape: /\bdop_v1_[a-f0-9]{64}\b/g, exact: /\bdop_v1_[a-f0-9]{64}(?![A-Za-z0-9_])/g },
  exactly("HashiCorp Vault token", /\bhvs\.[A-Za-z0-9_-]{90,}(?![A-Za-z0-9_])/g),
  exactly("Databricks token", /\bdapi[a-f0-9]{32}(?![A-Za-z0-9_])/g),
  exactly("Docker Hub token", /\bdckr_pat_[A-Za-z0-9_-]{27}(?![A-Za-z0-9_])/g),
  exactly("Linear key", /\blin_api_[A-Za-z0-9]{40}(?![A-Za-z0-9_])/g),
  exactly("Postman key", /\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}(?![A-Za-z0-9_])/g),
  exactly("Grafana token", /\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}(?![A-Za-z0-9_])/g),
  exactly("Atlassian token", /\bATATT3[A-Za-z0-9_=-]{180,}(?![A-Za-z0-9_])/g),
  exactly("Shopify token", /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}(?![A-Za-z0-9_])/g),
  exactly("Telegram bot token", /\b\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_])/g),
  exactly("age key", /\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}(?![A-Za-z0-9_])/g),
  exactly("RubyGems key", /\brubygems_[a-f0-9]{48}(?![A-Za-z0-9_])/g),
  exactly("Supabase token", /\bsbp_[a-f0-9]{40}(?![A-Za-z0-9_])/g),
  exactly("Square secret", /\bsq0csp-[A-Za-z0-9_-]{43}(?![A-Za-z0-9_])/g),
  exactly("Airtable token", /\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![A-Za-z0-9_])/g),
  exactly("Figma token", /\bfigd_[A-Za-z0-9_-]{40}(?![A-Za-z0-9_])/g),
  exactly("Azure storage key", /\bAccountKey=[A-Za-z0-9+/]{86}==(?![A-Za-z0-9_])/g),
  exactly("Alibaba Cloud access key", /\bLTAI[A-Za-z0-9]{20}(?![A-Za-z0-9_])/g),
  exactly("Tencent Cloud access key", /\bAKID[A-Za-z0-9]{32}(?![A-Za-z0-9_])/g),
  // Tokens of this service: of programs, and of the agent of one pass.
  exactly("aicr token", /\baicr-(?:token|pass)-[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g),
  { kind: "webhook secret", shape: /\bwhsec_[A-Za-z0-9+/=]{20,}/g },
  { kind: "sealed credential", shape: /\benc:v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g }
]

/** Matches text that may hold one of the formats, at the price of one pass: their prefixes. */
export const credentialPrefix =
  /gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|cbt|ft|soat|imt|sa)[-_]|[sr]k-|[rsp]k_|A[KSBC][IC][AD]|AIza|ya29\.|GOCSPX|xox|xapp-|hooks\.slack|\/webhooks\/|npm_|pypi-|SG\.|hf_|dop_v1_|hvs\.|dapi|dckr_pat_|lin_api_|PMAK-|ATATT3|shp[acps]|:AA|AGE-SEC|rubygems_|sbp_|sq0csp-|pat[A-Za-z0-9]{14}\.|figd_|AccountKey|LTAI|aicr-|whsec_|v1\.|eyJ/

/** Texts that documents and tests have in place of a credential. */
const standIn =
  /example|sample|placeholder|changeme|dummy|fake|redacted|your|xxxx|secret|0123456|1234567|abcdef|([A-Za-z0-9])\1{4}/i
/** Distinct characters that a random text of the shortest format has at the very least. */
const minDistinct = 9

/** Returns whether a text of a format is a placeholder: no issuer made it. */
export const isStandIn = (value: string): boolean =>
  standIn.test(value.replace(/^https:\/\/\S+?\/(?:services|webhooks)\//, "").replace(/^AGE-SECRET-KEY-1/, "")) ||
  new Set(value.slice(Math.min(8, value.length - 16))).size < minDistinct
