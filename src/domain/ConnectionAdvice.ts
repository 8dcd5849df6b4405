/** Next step after a connection that failed, by the error of Node.js. */

const rows: ReadonlyArray<readonly [pattern: RegExp, advice: string]> = [
  [
    /certificate|\bCERT_|SELF_SIGNED|UNABLE_TO_/,
    "its certificate is not trusted: name that of its authority in triggers[].tls_ca_path for a git host, else in NODE_EXTRA_CA_CERTS"
  ],
  [/ENOTFOUND|EAI_AGAIN/, "its name does not resolve: check the address and DNS"],
  [/ECONNREFUSED/, "nothing listens at its address: check the address and the server"],
  [
    /EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT_TIMEOUT/,
    "it cannot be reached: check the address, the network and the proxy"
  ],
  [/wrong version number|EPROTO|packet length too long/, "it does not use TLS: check http and https in the address"]
]

/** Returns what to check after an error with this text, if the text is that of a failed connection. */
export const findConnectionAdvice = (text: string): string | undefined =>
  rows.find(([pattern]) => pattern.test(text))?.[1]
