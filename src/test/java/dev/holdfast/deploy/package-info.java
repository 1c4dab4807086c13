/** Checks what an operator deploys: the Helm chart and its documentation. */
@NullMarked
package dev.holdfast.deploy;

import org.jspecify.annotations.NullMarked;
