/**
 * A profile of the shared AWS files: keys from `~/.aws/credentials`, the region from `~/.aws/config` (or where
 * AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE say). Read for every request, so that keys which another program renews there
 * are the ones in use. Profiles that sign in by other means (SSO, roles, programs) are named as such.
 */
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { NotConfigured } from "./ProviderRow.ts"

export interface AwsProfile {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  readonly region: string | undefined
}

export const readAwsProfile = async (name: string, env: NodeJS.ProcessEnv = process.env): Promise<AwsProfile> => {
  const files = [
    env["AWS_SHARED_CREDENTIALS_FILE"] ?? join(homedir(), ".aws", "credentials"),
    env["AWS_CONFIG_FILE"] ?? join(homedir(), ".aws", "config")
  ] as const
  const [credentials, config] = await Promise.all(files.map(readText))
  const section = { ...findSection(config ?? "", [`profile ${name}`, name]), ...findSection(credentials ?? "", [name]) }
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session, region } = section
  if (id !== undefined && secret !== undefined) {
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: session, region }
  }
  const other = ["credential_process", "sso_session", "sso_start_url", "role_arn"].find((field) => field in section)
  throw new NotConfigured(
    other === undefined
      ? { _tag: "AwsProfileWithoutKeys", profile: name, path: files[0] }
      : { _tag: "AwsProfileSignIn", profile: name, method: other }
  )
}

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8")
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return ""
    throw new NotConfigured({ _tag: "AwsFileUnreadable", path })
  }
}

/** The fields of the first of these sections that the file has. */
export const findSection = (
  text: string,
  names: ReadonlyArray<string>
): Readonly<Record<string, string | undefined>> => {
  const sections = new Map<string, Record<string, string>>()
  let current: Record<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1]
    if (header !== undefined) {
      current = sections.get(header) ?? {}
      sections.set(header, current)
      continue
    }
    const field = /^([A-Za-z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line)
    if (current !== undefined && field?.[1] !== undefined && field[2] !== undefined) current[field[1]] = field[2]
  }
  return names.map((name) => sections.get(name)).find((found) => found !== undefined) ?? {}
}
