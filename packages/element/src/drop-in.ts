/**
 * The drop-in: core, element and Lit in one file, which the service serves to host pages. Loading it registers `<connector-frame>`; its default
 * addresses are those of the service it was loaded from.
 */
import './drop-in-addresses.js';
import './define.js';
