/**
 * The environment git runs in: nothing of the user's, the system's or the reviewed repository's configuration takes part,
 * nothing prompts, no hook, filter, helper or external program is known. Configuration, secrets among it, goes in through
 * `GIT_CONFIG_COUNT` variables only (git 2.31 and newer): never argv, never disk.
 */

/** One configuration entry; the value may be a secret. */
export type GitSetting = readonly [key: string, value: string]

const fixed: ReadonlyArray<GitSetting> = [
  ["core.hooksPath", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.autocrlf", "false"],
  ["core.quotePath", "false"],
  // A link in the change becomes a small file that holds its target, so nothing in a worktree leads out of it.
  ["core.symlinks", "false"],
  ["credential.helper", ""],
  ["fetch.recurseSubmodules", "false"],
  // Fetches stay packs, which are counted and rolled up; loose objects would only pile up.
  ["fetch.unpackLimit", "1"],
  ["submodule.recurse", "false"],
  // Memory: large blobs are streamed and not compared with others, packs are mapped in small windows, one thread for each command.
  ["core.bigFileThreshold", "8m"],
  ["core.packedGitWindowSize", "1m"],
  ["core.packedGitLimit", "64m"],
  ["core.deltaBaseCacheLimit", "16m"],
  ["pack.threads", "1"],
  ["pack.windowMemory", "16m"],
  ["pack.deltaCacheSize", "16m"],
  ["index.threads", "1"],
  ["checkout.workers", "1"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["protocol.version", "2"],
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "60"],
  ["advice.detachedHead", "false"]
]

/** Variables of ours that git or its HTTP transport may see. Everything else stays out, GIT_TRACE and tokens included. */
const inherited = [
  "PATH",
  "TMPDIR",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "http_proxy",
  "https_proxy",
  "HTTPS_PROXY",
  "no_proxy",
  "NO_PROXY",
  "all_proxy",
  "ALL_PROXY"
]

/** `home` is a folder without `.netrc`: curl would read credentials from there. */
export const gitEnvironment = (
  home: string,
  settings: ReadonlyArray<GitSetting>,
  outer: NodeJS.ProcessEnv = process.env
): Record<string, string> => {
  const environment: Record<string, string> = {
    HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_ALLOW_PROTOCOL: "http:https"
  }
  for (const name of inherited) {
    const value = outer[name]
    if (value !== undefined) environment[name] = value
  }
  const all = [...fixed, ...settings]
  environment["GIT_CONFIG_COUNT"] = String(all.length)
  all.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return environment
}
