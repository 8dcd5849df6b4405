/** Reasons of git's messages that no server of a test produces. */
import { expect, it } from "vitest"
import { gitFailure } from "../../../src/vcs/git/GitFailure.ts"

it.each([
  ["error: unable to create temporary file: No space left on device", "disk"],
  [
    "fatal: sha1 file '/w/objects/pack/tmp_idx_184U4A' write error. Out of diskspace; fatal: invalid index-pack output",
    "disk"
  ],
  ["error: cannot update ref 'refs/aicr/d8d5': couldn't write '/w/refs/aicr/d8d5.lock'", "disk"],
  ["fatal: unable to write loose object file: Disk quota exceeded", "disk"],
  ["error: unable to create '/w/packed-refs.lock': Read-only file system", "disk"],
  ["fatal: unable to write new index file: Permission denied", "failed"],
  ["fatal: early EOF", "unreachable"]
])("%s: %s", (stderr, reason) => {
  expect(gitFailure("fetch", stderr, []).reason).toBe(reason)
})

it.each([
  "fatal: unable to access 'https://git/a.git/': server certificate verification failed. CAfile: none CRLfile: none",
  "fatal: unable to access 'https://git/a.git/': SSL certificate problem: unable to get local issuer certificate"
])("%s: names the setting", (stderr) => {
  expect(gitFailure("fetch", stderr, []).message).toContain("in triggers[].tls_ca_path")
})
