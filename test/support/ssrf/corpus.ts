/**
 * S10, S35: addresses that no connector may reach unless the operator allows them, in every
 * notation.
 */

/**
 * Closed addresses: at least one of each closed range, and one per IPv6 notation that embeds an
 * IPv4 address.
 */
export const closedAddresses = `
  0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.0.0.53
  127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192
  192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::a00:1 ::ffff:7f00:1 ::ffff:127.0.0.1
  ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::169.254.169.254 64:ff9b:1::1
  64:ff9b:1::808:808 100::1 2001::1 2001:0:4136:e378:8000:63bf:80ff:fffe 2001:2::1 2001:db8::1 2002:7f00:1::
  2002:808:808::1 168.63.129.16 ::ffff:0:7f00:1 ::ffff:0:169.254.169.254 ::ffff:0:808:808 64:ff9b::a83f:8110
  ::ffff:168.63.129.16 fd20:ce::254 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::a9fe:a9fe fec0::1 ff02::1 ff0e::1
`
  .trim()
  .split(/\s+/);

/** Other notations of 127.0.0.1 or 0.0.0.0 that the WHATWG URL standard parses as that address. */
export const loopbackForms = `
  127.1 127.0.1 0x7f.1 0x7f.0x0.0x0.0x1 0x7f000001 0177.1 0177.0.0.01 017700000001 2130706433 127.0.0.1.
  １２７.０.０.１ 127。0。0。1 ①②⑦.0.0.1 0 0x0 [::ffff:127.0.0.1] [0:0:0:0:0:ffff:7f00:1] [::0001]
  [0000:0000:0000:0000:0000:0000:0000:0001] [::127.0.0.1] [64:ff9b::127.0.0.1]
`
  .trim()
  .split(/\s+/);

/** Names of this machine or of the operator's own network, whatever they resolve to. */
export const internalNames = `
  localhost LOCALHOST localhost. app.localhost ⓛocalhost local printer.local Printer.LOCAL. internal db.internal
  metadata.google.internal metadata.google.internal. instance-data.ec2.internal
`
  .trim()
  .split(/\s+/);
