/** One credential of each format, made when it is used: no file of the repository contains one. */
import { createHash } from "node:crypto"

const base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const hex = "0123456789abcdef"
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Returns a text that looks random and is the same each time. */
export const randomText = (length: number, alphabet = base62, seed = "credential"): string => {
  let text = ""
  for (let block = 0; text.length < length; block++)
    for (const byte of createHash("sha256").update(`${seed} ${length} ${block}`).digest())
      text += alphabet[byte % alphabet.length]
  return text.slice(0, length)
}

const digits = (length: number): string => randomText(length, "123456789")

export interface GeneratedCredential {
  readonly kind: string
  readonly value: string
  /** The part that may be nowhere. */
  readonly secret: string
}

const made = (kind: string, value: string): GeneratedCredential => ({ kind, value, secret: value })

export const credentials = (): ReadonlyArray<GeneratedCredential> => {
  const key = randomText(64, base62, "key")
  return [
    made("GitHub token", `ghp_${randomText(36)}`),
    made("GitLab token", `glpat-${randomText(20)}`),
    made("Anthropic key", `sk-ant-api03-${randomText(95)}`),
    made("OpenRouter key", `sk-or-v1-${randomText(64, hex)}`),
    made("OpenAI key", `sk-proj-${randomText(40)}T3BlbkFJ${randomText(40)}`),
    made("Stripe key", `sk_live_${randomText(24)}`),
    made("AWS access key", `AKIA${randomText(16, capitals)}`),
    made("Google client secret", `GOCSPX-${randomText(28)}`),
    made("Slack token", `xoxb-${digits(12)}-${digits(13)}-${randomText(24)}`),
    made(
      "Slack webhook",
      `https://hooks.slack.com/services/T${randomText(10, capitals)}/B${randomText(10, capitals)}/${randomText(24)}`
    ),
    made("Discord webhook", `https://discord.com/api/webhooks/${digits(18)}/${randomText(68)}`),
    made("npm token", `npm_${randomText(36)}`),
    made("PyPI token", `pypi-AgEIcHlwaS5vcmc${randomText(80)}`),
    made("SendGrid key", `SG.${randomText(22)}.${randomText(43)}`),
    made("Hugging Face token", `hf_${randomText(34)}`),
    made("DigitalOcean token", `dop_v1_${randomText(64, hex)}`),
    made("HashiCorp Vault token", `hvs.${randomText(95)}`),
    made("Databricks token", `dapi${randomText(32, hex)}`),
    made("Docker Hub token", `dckr_pat_${randomText(27)}`),
    made("Linear key", `lin_api_${randomText(40)}`),
    made("Postman key", `PMAK-${randomText(24, hex)}-${randomText(34, hex)}`),
    made("Grafana token", `glsa_${randomText(32)}_${randomText(8, hex)}`),
    made("Atlassian token", `ATATT3${randomText(186)}`),
    made("Shopify token", `shpat_${randomText(32, hex)}`),
    made("Telegram bot token", `${digits(10)}:AA${randomText(33)}`),
    made("age key", `AGE-SECRET-KEY-1${randomText(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")}`),
    made("RubyGems key", `rubygems_${randomText(48, hex)}`),
    made("Supabase token", `sbp_${randomText(40, hex)}`),
    made("Square secret", `sq0csp-${randomText(43)}`),
    made("Airtable token", `pat${randomText(14)}.${randomText(64, hex)}`),
    made("Figma token", `figd_${randomText(40)}`),
    made("Azure storage key", `AccountKey=${randomText(86)}==`),
    made("Alibaba Cloud access key", `LTAI${randomText(20)}`),
    made("aicr token", `aicr-token-${randomText(43)}`),
    made("Tencent Cloud access key", `AKID${randomText(32)}`),
    { kind: "Private key", value: `-----BEGIN RSA ${"PRIVATE"} KEY-----\\n${key}\\n`, secret: key }
  ]
}
