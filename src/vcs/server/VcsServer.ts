/** Servers of Subversion and Perforce: where they are and how to sign in. Secrets reach the clients on standard input or in a private file only. */
import type { Redacted } from "effect"

export interface SubversionServer {
  readonly vcs: "subversion"
  /** URL without credentials, over http, https, svn, svn+ssh or file. */
  readonly url: string
  readonly username: string | undefined
  readonly password: Redacted.Redacted | undefined
  /** Additional trusted PEM file. */
  readonly tlsCaPath: string | undefined
  /** Accepts a certificate of an unknown authority. All other failures are still errors. */
  readonly trustServerCert: boolean
  readonly proxy: Redacted.Redacted | undefined
}

export interface PerforceServer {
  readonly vcs: "perforce"
  /** P4PORT: `host:1666`, `ssl:host:1666`. */
  readonly port: string
  readonly user: string | undefined
  readonly ticket: Redacted.Redacted | undefined
  readonly password: Redacted.Redacted | undefined
  /** Client workspace. */
  readonly client: string | undefined
  /** Fingerprint of the server's key, which is the only one accepted. */
  readonly fingerprint: string | undefined
  /** The client program. */
  readonly program: string
}

export type VcsServer = SubversionServer | PerforceServer
