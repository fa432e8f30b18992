// Least squares by Householder reflections.

/** Minimise |A x - b|² + ridge |x|² for each target b, and return the solutions.
 *
 * `columns` are the columns of A and `targets` the vectors b, as arrays of the same length. The
 * penalty is appended as rows √ridge I, so that A'A, which has the square of the condition number,
 * is never formed. */
export function leastSquares(columns, targets, ridge) {
    const size = columns.length, rows = targets[0].length;
    const extended = (values, i) => {
        const result = new Float64Array(rows + size);
        result.set(values);
        if (i !== undefined) result[rows + i] = Math.sqrt(ridge);
        return result;
    };
    const A = columns.map(extended);
    const B = targets.map((target) => extended(target));
    const diagonal = new Float64Array(size);
    for (let j = 0; j < size; j++) {
        // The rows √ridge I are still zero below row rows + j.
        const v = A[j], end = rows + j + 1;
        let squares = 0;
        for (let i = j; i < end; i++) squares += v[i] * v[i];
        if (squares === 0) continue;
        diagonal[j] = v[j] > 0 ? -Math.sqrt(squares) : Math.sqrt(squares);
        v[j] -= diagonal[j];
        const scale = -diagonal[j] * v[j];
        for (const column of [...A.slice(j + 1), ...B]) {
            let product = 0;
            for (let i = j; i < end; i++) product += v[i] * column[i];
            product /= scale;
            for (let i = j; i < end; i++) column[i] -= product * v[i];
        }
    }
    return B.map((b) => {
        const x = new Float64Array(size);
        for (let j = size - 1; j >= 0; j--) {
            let rest = b[j];
            for (let k = j + 1; k < size; k++) rest -= A[k][j] * x[k];
            x[j] = diagonal[j] ? rest / diagonal[j] : 0;
        }
        return x;
    });
}
